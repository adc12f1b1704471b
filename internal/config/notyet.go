package config

// Pending says which keys are read and checked but have no effect yet, and what happens instead. Whoever brings a key
// into effect takes it out here; nothing else depends on this list.
func Pending() map[string]string {
	return map[string]string{
		"chat.compact_at":            "not in effect yet; the oldest turns are left out when the context is full",
		"chat.show_reasoning":        "not in effect yet; reasoning isn't shown",
		"limits.max_input_bytes":     "not in effect yet; long messages aren't refused before the model is asked",
		"limits.user_per_minute":     "not in effect yet; nobody is limited",
		"limits.user_waiting":        "not in effect yet; nobody is limited",
		"limits.user_tokens_per_day": "not in effect yet; tokens aren't limited",
		"link.enabled":               "not in effect yet; conversations can't be linked",
		"session.retention":          "not in effect yet; conversations are kept",
	}
}

package config

// Pending says which keys are read and checked but have no effect yet, and what happens instead. Whoever brings a key
// into effect takes it out here; nothing else depends on this list.
func Pending() map[string]string {
	return map[string]string{}
}

package config

// Rules lets the tests hold the rules against the struct.
func Rules() map[string]rule { return rules() }

// Decode reads a file over the defaults and nothing else.
func Decode(data []byte) (*Config, map[string]bool, []string) {
	var problems []string
	c := Default()
	d := decoder{set: map[string]bool{}, problem: func(key, text string) { problems = append(problems, key+": "+text) }}
	d.decode(data, c)
	return c, d.set, problems
}

package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// loader is one call of Load.
type loader struct {
	env      Environment
	cfg      *Config
	src      Sources
	set      map[string]bool // keys and tables of the file
	bad      map[string]bool // keys with a problem
	problems []string
	kind     error
}

// Load reads the configuration: the file at path, or where path is empty the first of $OREBOT_CONFIG,
// $CONFIGURATION_DIRECTORY/config.toml, $XDG_CONFIG_HOME/orebot/config.toml and /etc/orebot/config.toml, then
// credentials and the environment. Without a file at the default places the environment alone is enough.
//
// The error is an *Error that holds every problem; errors.Is finds ErrNoFile and ErrNoPlatform in it. The Config is
// never nil: with an error it holds what was readable, which is enough to find the state of a daemon.
func Load(path string, env Environment) (*Config, Sources, error) {
	l := &loader{
		env: env, cfg: Default(), src: Sources{Values: map[string]Source{}},
		set: map[string]bool{}, bad: map[string]bool{},
	}
	readable := l.file(path)
	l.environment()
	l.secrets()
	if readable {
		l.texts()
		l.validate()
		l.platforms()
		l.advise()
	}
	if len(l.problems) > 0 {
		return l.cfg, l.src, &Error{Problems: l.problems, Kind: l.kind}
	}
	return l.cfg, l.src, nil
}

// file finds and decodes the file. It returns false where nothing can be said about what it should hold.
func (l *loader) file(path string) bool {
	for _, p := range l.env.places(path) {
		data, err := l.env.ReadFile(p.path)
		if errors.Is(err, fs.ErrNotExist) && !p.named {
			continue
		}
		l.src.File = p.path
		if err == nil {
			return l.decode(data)
		}
		remedy := "; check -c, --config and $OREBOT_CONFIG"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.kind = ErrNoFile
		case errors.Is(err, fs.ErrPermission):
			remedy = "; let the user that runs orebot read it"
		}
		l.problem("", "can't be read: "+reason(err)+remedy)
		return false
	}
	return true
}

func (l *loader) decode(data []byte) bool {
	d := decoder{set: l.set, problem: l.problem}
	ok := d.decode(data, l.cfg)
	for key := range l.set {
		l.src.Values[key] = Source{FromFile, l.src.File}
	}
	for _, s := range l.cfg.slots() {
		if s.value.IsZero() {
			delete(l.src.Values, s.key) // an empty one is as good as none
		}
	}
	return ok
}

// environment takes what is no secret.
func (l *loader) environment() {
	c := l.cfg
	if level := l.env.Getenv("OREBOT_LOG_LEVEL"); level != "" {
		c.Log.Level = strings.ToLower(strings.TrimSpace(level))
		l.src.Values["log.level"] = Source{FromEnv, "OREBOT_LOG_LEVEL"}
	}
	if host := l.env.Getenv("OLLAMA_HOST"); host != "" && !l.set["ollama.hosts"] {
		c.Ollama.Hosts = []string{host}
		l.src.Values["ollama.hosts"] = Source{FromEnv, "OLLAMA_HOST"}
	}
	if c.StateDir != "" {
		return
	}
	var from Source
	if c.StateDir, from = l.env.stateDir(); from != (Source{}) {
		l.src.Values["state_dir"] = from
	} else {
		delete(l.src.Values, "state_dir")
	}
}

// texts reads the files that the configuration names and that hold no secret.
func (l *loader) texts() {
	chat := &l.cfg.Chat
	if chat.SystemPromptFile == "" {
		return
	}
	if l.set["chat.system_prompt"] && chat.SystemPrompt != defaultPrompt {
		l.problem("chat.system_prompt", "is there inline and as chat.system_prompt_file; keep one of them")
		return
	}
	path := l.beside(chat.SystemPromptFile)
	if text, ok := l.readText("chat.system_prompt_file", path); ok {
		chat.SystemPrompt = text
		l.src.Values["chat.system_prompt"] = Source{FromFile, path}
	}
}

// problem adds a sentence about a key; the key "" stands for the file.
func (l *loader) problem(key, text string) {
	l.bad[key] = true
	l.add(l.subject(key) + text)
}

func (l *loader) add(sentence string) {
	if !slices.Contains(l.problems, sentence) {
		l.problems = append(l.problems, sentence)
	}
}

func (l *loader) warn(key, text string) {
	l.src.Warnings = append(l.src.Warnings, l.subject(key)+text)
}

// subject names what a sentence is about: the file and the key in it, or what it came from instead.
func (l *loader) subject(key string) string {
	if key == "" {
		return l.src.File + ": "
	}
	switch s := l.src.Of(key); {
	case s.Origin == FromEnv:
		return "$" + s.Name + ": "
	case s.Origin == FromCredential:
		return "credential " + s.Name + ": "
	case s.Origin == FromFile && s.Name != l.src.File:
		return l.src.File + ": " + key + "_file: " + s.Name + " "
	case l.src.File == "":
		return key + ": "
	}
	return l.src.File + ": " + key + ": "
}

// fileOrDefault is the file to write something into.
func (l *loader) fileOrDefault() string {
	if l.src.File != "" {
		return l.src.File
	}
	places := l.env.places("")
	return places[len(places)-1].path
}

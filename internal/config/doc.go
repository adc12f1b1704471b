// Package config reads orebot's TOML file, the environment and systemd's credentials into one Config.
//
// A key has its name in the struct tag, its default in Default, its law in the table of rules, and a line in
// config.example.toml; tests hold these four together. Decoding is strict, every problem is reported at once, and each
// is a sentence that names file, key and remedy. No value of a secret is ever part of one.
package config

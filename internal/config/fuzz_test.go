package config

import "testing"

// FuzzDuration wants every duration that can be read to come back from its own text.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{"0", "-1", "1w2d3h", "-1.5d", "90s", "1h2d", "9000000h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if back, err := ParseDuration(d.String()); err != nil || back != d {
			t.Errorf("%q is %d, its text %q is %d, %v", s, d, d, back, err)
		}
	})
}

// FuzzModelHost wants a normalised address to stay what it is.
func FuzzModelHost(f *testing.F) {
	for _, s := range []string{"gpu", "::1", "http://[::]:8/a/", "https://h", "0.0.0.0", ":1", "http://", "h:99999", "h/%2f", "a0:/''#", "h?", "'h'/",
		"http://[fe80::1%25eth0]", "https://h\u2000/", "https://h%C2%85", "https://h\ufeff", "HTTPS://H\xff/%2F//", "h/a b%27|\u2000/", "[::1%25a%2525b]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, err := modelHost(s)
		if err != nil {
			return
		}
		if twice, err := modelHost(once); err != nil || twice != once {
			t.Errorf("%q became %q, then %q, %v", s, once, twice, err)
		}
	})
}

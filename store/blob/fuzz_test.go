package blob

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whatever is taken for a URL names a file of the directory itself.
func FuzzNameOf(f *testing.F) {
	f.Add(Scheme + strings.Repeat("a0", 32))
	f.Add(Scheme + "../../etc/passwd")
	f.Add("blob:sha256/\x00")
	f.Fuzz(func(t *testing.T, url string) {
		name, ok := nameOf(url)
		if !ok {
			return
		}
		if filepath.Base(name) != name || filepath.Join("d", name) != "d/"+name || Scheme+name != url || len(name) != 64 {
			t.Errorf("%q is taken for %q", url, name)
		}
	})
}

package bolt

import (
	"path/filepath"
	"testing"

	"orebot/core/session/storetest"
)

func TestStoreKeepsThePort(t *testing.T) { keepsThePort(t, Options{}) }

// A file that outgrows its map is mapped anew in the middle of a commit, for which bbolt waits until nobody reads.
func TestStoreKeepsThePortWhileTheMapGrows(t *testing.T) { keepsThePort(t, Options{mmapSize: 1}) }

func keepsThePort(t *testing.T, o Options) {
	storetest.Run(t, true, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "state", "orebot.db")
		return func(t *testing.T) storetest.Store {
			s, err := Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}

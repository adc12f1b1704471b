package bolt

import (
	"path/filepath"
	"testing"

	"orebot/core/session/storetest"
)

func TestStoreKeepsThePort(t *testing.T) {
	storetest.Run(t, true, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "state", "orebot.db")
		return func(t *testing.T) storetest.Store {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}

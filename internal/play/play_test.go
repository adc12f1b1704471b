package play

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestPlays(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.play"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d plays: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".play"), func(t *testing.T) { Run(t, path) })
	}
}

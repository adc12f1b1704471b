package ollama_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/models"
	"orebot/core/provider"
	sim "orebot/internal/sim/ollama"
)

// Report 71: a cold model loads for minutes without headers; that is said, once, and taken back with the first token. A warm one, and
// one that is quick to load, are not said to load.
func TestLoadingIsTold(t *testing.T) {
	for load, want := range map[time.Duration]string{
		time.Second:      "",
		20 * time.Second: "3s loading true, 20s loading false, ",
	} {
		synctest.Test(t, func(t *testing.T) {
			_, p := bubble(t, sim.Options{Load: load})
			var mu sync.Mutex
			told, begin := "", time.Now()
			ctx := provider.WithProgress(t.Context(), func(pr provider.Progress) {
				mu.Lock()
				defer mu.Unlock()
				told += fmt.Sprintf("%s loading %v, ", time.Since(begin).Round(time.Second), pr.Loading)
			})
			for range 2 { // the second time it is warm
				if _, err := invoke(ctx, p, state(user("hi")), models.Spec{Model: "tiny"}); err != nil {
					t.Fatal(err)
				}
			}
			if told != want {
				t.Errorf("loading for %s: %q, want %q", load, told, want)
			}
		})
	}
}

package ollama_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/models"
	"orebot/provider/ollama"
)

// canned answers every request with the same bytes, so that only the provider is measured.
type canned []byte

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(c))}, nil
}

func tokens(n int) canned {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"model":"tiny","created_at":"2026-11-29T20:03:21.430970781Z","message":{"role":"assistant","content":" word%d"},"done":false}`+"\n", i)
	}
	b.WriteString(`{"model":"tiny","created_at":"2026-11-29T20:03:21.430970781Z","message":{"role":"assistant","content":""},"done":true,` +
		`"done_reason":"stop","total_duration":11411379,"load_duration":1858011,"prompt_eval_count":13,"eval_count":1001}` + "\n")
	return b.Bytes()
}

func BenchmarkStream(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n, "_tokens"), func(b *testing.B) {
			p, err := ollama.New(ollama.Config{Hosts: []string{"h"}, NumCtx: 4096, Transport: tokens(n),
				FirstTokenTimeout: time.Minute, IdleTimeout: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			ch := make(chan artifact.Artifact, n+2)
			st := state(user("hi"))
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Invoke(b.Context(), st, models.Spec{Model: "tiny"}, ch); err != nil {
					b.Fatal(err)
				}
				for range n + 1 {
					<-ch
				}
			}
		})
	}
}

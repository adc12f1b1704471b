package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/provider"
)

func TestOptionsApplyInOrder(t *testing.T) {
	a, b := provider.Tool{Name: "a"}, provider.Tool{Name: "b"}
	better := provider.Tool{Name: "a", Description: "better"}
	got := provider.Apply(provider.WithTools(a), nil, provider.WithTools(b, better))
	if want := []provider.Tool{better, b}; !reflect.DeepEqual(got.Tools, want) {
		t.Errorf("got %v, want %v", got.Tools, want)
	}
	if got := provider.Apply(); got.Tools != nil {
		t.Errorf("got %v", got)
	}
}

func TestFinishIsKeptWithTheTurn(t *testing.T) {
	b, err := artifact.Marshal(provider.Finish{Reason: "length"})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := artifact.Unmarshal(b); err != nil || a != (provider.Finish{Reason: "length"}) {
		t.Errorf("got %#v, %v", a, err)
	}
}

func TestKinds(t *testing.T) {
	tests := []struct {
		kind  provider.Kind
		name  string
		retry bool
	}{
		{provider.KindUnknown, "unknown", false},
		{provider.KindUnreachable, "unreachable", true},
		{provider.KindBusy, "busy", true},
		{provider.KindModelMissing, "model missing", false},
		{provider.KindTimeout, "timeout", true},
		{provider.KindIncomplete, "incomplete", true},
		{provider.KindEmpty, "empty", true},
		{provider.KindTooLong, "too long", false},
		{provider.KindRefused, "refused", false},
		{provider.KindDenied, "denied", false},
		{provider.KindRepeats, "repeats", true},
		{200, "kind 200", false},
	}
	for _, tt := range tests {
		if tt.kind.String() != tt.name || provider.Retryable(tt.kind) != tt.retry {
			t.Errorf("%d: %q, retry %v", tt.kind, tt.kind, provider.Retryable(tt.kind))
		}
	}
}

func TestError(t *testing.T) {
	err := &provider.Error{Kind: provider.KindBusy, Model: "m", Host: "h:1", After: time.Second, Err: io.EOF}
	if got, want := err.Error(), "provider: m: h:1: busy: EOF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (&provider.Error{}).Error(), "provider: unknown"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wrapped := fmt.Errorf("turn: %w", err)
	if provider.KindOf(wrapped) != provider.KindBusy || !errors.Is(wrapped, io.EOF) {
		t.Errorf("kind %v", provider.KindOf(wrapped))
	}
	if provider.KindOf(context.Canceled) != provider.KindUnknown || provider.KindOf(nil) != provider.KindUnknown {
		t.Error("kind of a foreign error")
	}
}

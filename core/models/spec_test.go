package models_test

import (
	"reflect"
	"testing"

	"orebot/core/models"
)

func full() models.Spec {
	return models.Spec{
		Model: "m", Think: "on", NumCtx: 1, MaxTokens: 2, Temperature: new(0.5), TopP: new(0.9),
		Seed: new(3), Stop: []string{"s"}, Options: map[string]any{"a": 1, "b": 2},
	}
}

// Each field on its own: the receiver's value wins, an unset one gives way.
func TestOrFieldByField(t *testing.T) {
	want := full()
	fields := reflect.TypeFor[models.Spec]()
	for i := range fields.NumField() {
		var one models.Spec
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(want).Field(i))
		name := fields.Field(i).Name
		if one.IsZero() {
			t.Errorf("%s: IsZero with it set", name)
		}
		if got := one.Or(models.Spec{}); !reflect.DeepEqual(got, one) {
			t.Errorf("%s over nothing: %+v", name, got)
		}
		if got := (models.Spec{}).Or(one); !reflect.DeepEqual(got, one) {
			t.Errorf("nothing over %s: %+v", name, got)
		}
		other := models.Spec{
			Model: "x", Think: "x", NumCtx: 9, MaxTokens: 9, Temperature: new(9.0), TopP: new(9.0),
			Seed: new(9), Stop: []string{"x"},
		}
		got := reflect.ValueOf(one.Or(other)).Field(i).Interface()
		if !reflect.DeepEqual(got, reflect.ValueOf(want).Field(i).Interface()) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestZeroIsAValueBehindAPointer(t *testing.T) {
	got := models.Spec{Temperature: new(0.0), Seed: new(0), Stop: []string{}}.Or(full())
	if *got.Temperature != 0 || *got.Seed != 0 || got.Stop == nil || len(got.Stop) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestOptionsMergeKeyByKey(t *testing.T) {
	s := models.Spec{Options: map[string]any{"a": "mine"}}
	d := full()
	got := s.Or(d)
	if want := map[string]any{"a": "mine", "b": 2}; !reflect.DeepEqual(got.Options, want) {
		t.Errorf("got %v, want %v", got.Options, want)
	}
	got.Options["c"] = 3
	if len(s.Options) != 1 || len(d.Options) != 2 {
		t.Error("the merged map is shared")
	}
}

func TestIsZero(t *testing.T) {
	if !(models.Spec{}).IsZero() || full().IsZero() {
		t.Error("IsZero")
	}
	if got := (models.Spec{}).Or(models.Spec{}); !got.IsZero() {
		t.Errorf("got %+v", got)
	}
}

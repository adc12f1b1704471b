package loop

import "context"

// plain turns a pointer to an event of this package into its value, so that
// callbacks and subscribers see one form. A nil pointer becomes nil.
func plain(event OutputEvent) OutputEvent {
	switch e := event.(type) {
	case *ArtifactEvent:
		return value(e)
	case *TurnCompleteEvent:
		return value(e)
	case *LifecycleEvent:
		return value(e)
	case *ErrorEvent:
		return value(e)
	case *ActivityEvent:
		return value(e)
	case *PropertiesEvent:
		return value(e)
	case *NoticeEvent:
		return value(e)
	}
	return event
}

func value[E OutputEvent](e *E) OutputEvent {
	if e == nil {
		return nil
	}
	return *e
}

// hasContext reports whether the event brings its own context. Events of other
// packages do: there is no way to give them one.
func hasContext(event OutputEvent) bool {
	switch e := event.(type) {
	case ArtifactEvent:
		return e.Ctx != nil
	case TurnCompleteEvent:
		return e.Ctx != nil
	case LifecycleEvent:
		return e.Ctx != nil
	case ErrorEvent:
		return e.Ctx != nil
	case ActivityEvent:
		return e.Ctx != nil
	case PropertiesEvent:
		return e.Ctx != nil
	case NoticeEvent:
		return e.Ctx != nil
	}
	return true
}

// withContext returns the event of this package with ctx as its context.
func withContext(event OutputEvent, ctx context.Context) OutputEvent {
	switch e := event.(type) {
	case ArtifactEvent:
		e.Ctx = ctx
		return e
	case TurnCompleteEvent:
		e.Ctx = ctx
		return e
	case LifecycleEvent:
		e.Ctx = ctx
		return e
	case ErrorEvent:
		e.Ctx = ctx
		return e
	case ActivityEvent:
		e.Ctx = ctx
		return e
	case PropertiesEvent:
		e.Ctx = ctx
		return e
	case NoticeEvent:
		e.Ctx = ctx
		return e
	}
	return event
}

package telegram

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"orebot/internal/sim/fault"
)

// apiError is a refusal as the Bot API words it.
type apiError struct {
	code     int
	text     string // with its prefix: "Bad Request: chat not found"
	retry    int    // seconds, with 429
	migrated int64  // the new chat id, when a group became a supergroup
}

// errRestart is what a server that closes says to those who still wait.
var errRestart = &apiError{code: http.StatusInternalServerError, text: "Internal Server Error: restart"}

func (e *apiError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &apiError{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) error {
	return &apiError{code: http.StatusForbidden, text: "Forbidden: " + fmt.Sprintf(format, args...)}
}

func conflict(text string) error {
	return &apiError{code: http.StatusConflict, text: "Conflict: " + text}
}

func tooMany(wait time.Duration) *apiError {
	n := int((wait + time.Second - 1) / time.Second)
	n = max(n, 1)
	return &apiError{code: http.StatusTooManyRequests, retry: n, text: fmt.Sprintf("Too Many Requests: retry after %d", n)}
}

func migrated(to int64) error {
	return &apiError{code: http.StatusBadRequest, migrated: to,
		text: "Bad Request: group chat was upgraded to a supergroup chat"}
}

// Refusal is a fault that answers as the Bot API does, such as 403 "Forbidden: bot was blocked by the user".
func Refusal(code int, description string) fault.Fault {
	body, _ := json.Marshal(map[string]any{"ok": false, "error_code": code, "description": description})
	return fault.Fault{Status: code, Body: string(body)}
}

// TooMany is the fault of a bot that calls too often: 429 with the time to wait, in whole seconds, in header and body.
func TooMany(wait time.Duration) fault.Fault {
	e := tooMany(wait)
	body, _ := json.Marshal(map[string]any{"ok": false, "error_code": e.code, "description": e.text,
		"parameters": map[string]any{"retry_after": e.retry}})
	return fault.Fault{Status: e.code, Body: string(body), Retry: time.Duration(e.retry) * time.Second}
}

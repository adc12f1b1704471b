// Package secret keeps tokens out of sight: a String that no verb, encoder or logger shows, a Redactor for texts that
// others wrote, and HTTP wrappers whose errors don't carry the URL, which on Telegram is the token.
package secret

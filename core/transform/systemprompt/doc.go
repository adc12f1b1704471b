// Package systemprompt tells the model who it is, without a trace in the
// conversation: a loop.Transform that puts one system turn in front of what the
// provider is shown.
package systemprompt

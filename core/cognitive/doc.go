// Package cognitive holds the ways to get from a person's message to an answer.
//
// A Pattern decides how often the model is asked and what it is told in between.
// It works through a loop.TurnExecutor, so that every turn it causes is stored
// and announced like any other, and it keeps nothing between runs.
package cognitive

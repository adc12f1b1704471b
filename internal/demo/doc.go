// Package demo is a stage for orebot without any account: a Slack and a Telegram simulator, a stand-in model where no Ollama
// answers, and a terminal in which a person types as a user of either. The daemon between them is the real one; whoever
// calls Run brings it.
package demo

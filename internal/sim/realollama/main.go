package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

const (
	headSize = 64
	context  = 8192 // what the models say that they were trained for
	certain  = 40   // the logit of a token's successor; all others have 0
)

func main() {
	dir := flag.String("dir", ".", "folder to write to")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "realollama:", err)
		os.Exit(1)
	}
}

// write puts tiny.gguf into dir, and for each model a Modelfile that names it.
func write(dir string) error {
	v, err := newVocab(play())
	if err != nil {
		return err
	}
	data, err := encode(head(v), weights(v))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tiny.gguf"), data, 0o644); err != nil {
		return err
	}
	for name, text := range modelfiles() {
		if err := os.WriteFile(filepath.Join(dir, name+".Modelfile"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// width returns the model's inner dimension: one place for each token, in whole heads.
func width(v *vocab) int { return (len(v.text) + headSize - 1) / headSize * headSize }

// head describes the model and its tokenizer.
func head(v *vocab) []pair {
	n := uint32(width(v))
	return []pair{
		{"general.architecture", "llama"},
		{"general.name", "tiny"},
		{"general.file_type", uint32(1)}, // mostly 16 bits
		{"llama.context_length", uint32(context)},
		{"llama.embedding_length", n},
		{"llama.block_count", uint32(1)},
		{"llama.feed_forward_length", uint32(headSize)},
		{"llama.attention.head_count", n / headSize},
		{"llama.attention.head_count_kv", uint32(1)},
		{"llama.attention.key_length", uint32(headSize)},
		{"llama.attention.value_length", uint32(headSize)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-6)},
		{"llama.rope.dimension_count", uint32(headSize)},
		{"llama.rope.freq_base", float32(10000)},
		{"llama.vocab_size", uint32(len(v.text))},
		{"tokenizer.ggml.model", "gpt2"},
		{"tokenizer.ggml.pre", "default"},
		{"tokenizer.ggml.tokens", v.text},
		{"tokenizer.ggml.token_type", v.kind},
		{"tokenizer.ggml.merges", []string{spell(mergeLeft) + " " + spell(mergeRight)}},
		{"tokenizer.ggml.bos_token_id", uint32(v.at[begin])},
		{"tokenizer.ggml.eos_token_id", uint32(v.at[end])},
		{"tokenizer.ggml.add_bos_token", true},
		{"tokenizer.ggml.add_eos_token", false},
	}
}

// weights are the model's matrices: see the package's comment.
func weights(v *vocab) []tensor {
	n, tokens := width(v), len(v.text)
	none := func(int, int) float32 { return 0 }
	ones := func(int, int) float32 { return 1 }
	oneHot := func(row, col int) float32 {
		if row == col {
			return 1
		}
		return 0
	}
	strength := float32(certain / math.Sqrt(float64(n))) // the norm before it makes the one √n
	follow := func(row, col int) float32 {
		if col < tokens && v.next[col] == row {
			return strength
		}
		return 0
	}
	block := func(name string) string { return "blk.0." + name + ".weight" }
	return []tensor{
		{"token_embd.weight", n, tokens, oneHot},
		{block("attn_norm"), n, 1, ones},
		{block("attn_q"), n, n, none},
		{block("attn_k"), n, headSize, none},
		{block("attn_v"), n, headSize, none},
		{block("attn_output"), n, n, none},
		{block("ffn_norm"), n, 1, ones},
		{block("ffn_gate"), n, headSize, none},
		{block("ffn_up"), n, headSize, none},
		{block("ffn_down"), headSize, n, none},
		{"output_norm.weight", n, 1, ones},
		{"output.weight", n, tokens, follow},
	}
}

// able is a template from which a server sees that the model takes tools and thinks.
const able = `{{ if .Tools }}<|system|>{{ .Tools }}{{ end }}{{ range .Messages }}<|{{ .Role }}|>` +
	`{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}` +
	`{{ if .ToolCalls }}<tool_call>{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}</tool_call>{{ end }}` +
	`{{ if eq .Role "tool" }}<|toolend|>{{ else if eq .Role "assistant" }}<|end|>{{ end }}{{ end }}`

const plain = `{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}`

// modelfiles returns a Modelfile by the name of its model. One thread is enough, and several wait for each other at every token as soon
// as the machine does something else.
func modelfiles() map[string]string {
	out := map[string]string{}
	for name, template := range map[string]string{"tiny": able, "plain": plain} {
		out[name] = fmt.Sprintf("FROM ./tiny.gguf\nPARAMETER num_thread 1\nTEMPLATE \"\"\"%s\"\"\"\n", template)
	}
	return out
}

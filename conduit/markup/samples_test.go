package markup

import "strings"

// samples are what the fuzzers start from: each has something that goes wrong
// easily.
func samples() []string {
	return []string{
		"# Title *x*\n\ntext",
		"a **b *c* d** ~~e~~ `f` [g **h**](https://ex.com \"t\") ![i](j.png) <https://k.org> <l@m.org>",
		"- a\n  - b\n    1. c\n\n       para\n- [x] d\n- [ ] e\n-\n",
		"3) x\n4) y\n   ```go\n   z\n\n   w\n   ```\n5) v",
		"> q\n>> r\n> - s\n\nt",
		"| A | B |\n|---|--:|\n| x | `1\\|2` |\n| long | 22 | more |\n|\n",
		"line<br>two <kbd>x</kbd> <!-- c -->\n\n<div>\n*a*<br/>b\n</div>",
		"~~~sh\nls\n~~~\n\n\tindented\n\tcode\n\n- \titem\n\n  \t  code",
		"```py\nprint(1)",
		"```\n```\n\n---\n***",
		"$a_b * c_d$ and \\(x\\) and \\[y_1\\] $5 and $10\n\n$$\na = *b*\n- c\n$$\n\n\\[\nz\n\\].",
		"<think>s</think>\n\nanswer &amp; &copy; &#65; &bogus; \\* \\a",
		"<think>never closed\n\nanswer",
		"a\r\nb  \r\nc\\\r\nd\re\x00f\xff\xfe\r\n\r\n```\r\nx\r\n```\r\n",
		"**粗体：**文 3~5个 6~8 __init__ snake_case",
		"[Note]: this\n\n[used]: https://ex.com\n\nsee [used] and [t][used]",
		"Setext\n===\n\nother\n---\n",
		strings.Repeat("> ", 40) + "deep\n" + strings.Repeat("- ", 40) + "x",
		"👨‍👩‍👧 e\u0301 🇩🇪🇫🇷 नमस्ते",
		"[](https://ex.com) ![](x.png) [ ](y) [![b](c)](d)",
		"\ufeffa\u2028b\u202ec",
		"a\n\n\n\n&nbsp;\n\nb",
	}
}

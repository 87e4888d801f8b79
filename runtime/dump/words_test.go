package dump

import (
	"strings"
	"testing"
)

// TestWords: words that nobody knows are refused by their names.
func TestWords(t *testing.T) {
	for _, x := range []struct {
		text string
		want words
		err  string
	}{
		{text: "host", want: words{host: true}},
		{text: "ops, plans,json", want: words{ops: true, plans: true, json: true}},
		{text: "host,hots", err: `OVGEN_DUMP has the word "hots" (host, ops, plans and json are known)`},
		{text: "host,", err: `OVGEN_DUMP has the word ""`},
		{text: "json", err: `OVGEN_DUMP is "json", and json alone asks for nothing (add host, ops or plans)`},
	} {
		t.Run(x.text, func(t *testing.T) {
			got, err := read(x.text)
			if x.err == "" && (err != nil || got != x.want) {
				t.Errorf("%+v, %v; want %+v", got, err, x.want)
			}
			if x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)) {
				t.Errorf("%v, want %q", err, x.err)
			}
		})
	}
}

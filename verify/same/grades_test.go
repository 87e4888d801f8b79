package same

import (
	"testing"

	"ovgen/schedule"
)

// TestMeant: a refusal may become another one only as a row of changes has it.
func TestMeant(t *testing.T) {
	refusal := func(path, msg string) error { return &schedule.FieldError{Path: path, Msg: msg} }
	for _, test := range []struct {
		name    string
		was, is error
		want    bool
	}{
		{"a feature is served, and another field is refused", refusal("Ops[1]", "no pass keeps X until here"),
			refusal("Moves[0].Of", "X does not travel"), true},
		{"it is not, in other words", refusal("Ops[1]", "no pass keeps X until here"),
			refusal("Ops[1]", "no pass lowers it"), false},
		{"a way has no communication, and a fact says why", refusal("Moves[0].Way",
			"no pass does the all-gather of A by Shot"),
			refusal("Moves[0].Way", "no pass does the all-gather of A by Shot: it adds up partial results"), true},
		{"and none does", refusal("Moves[0].Way", "no pass does the all-gather of A by Shot"),
			refusal("Moves[0].Way", "no pass does the all-gather of A by Shot"), false},
		{"a rule that stays refuses another field", refusal("Moves[0].Way.Streams",
			"one product of all rows has the stream"),
			refusal("Ops[0]", "no pass does a matmul"), false},
		{"words of today are no words of the frozen copy", refusal("Moves[0].Way", "tiles are made of bf16 and fp16"),
			refusal("Moves[0].Of", "no pass does the all-gather of A by Shot: it adds up partial results"), false},
	} {
		if got := (become{test.was, test.is}).meant(); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if !(become{nil, refusal("Moves[0].Way.By", "no kernel does a whole step of it")}).unwritten() ||
		(become{nil, refusal("Moves[0].Way.Parts", "no kernel does a whole step of it")}).unwritten() ||
		(become{nil, refusal("Moves[0].Way.By", "no kernel copies parts of columns")}).unwritten() {
		t.Error("only By of a way that no kernel does a step of was unwritten")
	}
}

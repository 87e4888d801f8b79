package run

import (
	"os"
	"testing"
)

// Without a command there is trouble, as with ovgen without a verb; help is no trouble.
func TestStatusWithoutCommand(t *testing.T) {
	args := os.Args
	t.Cleanup(func() { os.Args = args })
	for _, test := range []struct {
		args []string
		want int
	}{{[]string{"run"}, exitTrouble}, {[]string{"run", "help"}, exitRight},
		{[]string{"run", "make"}, exitTrouble}} {
		os.Args = test.args
		if got := Main(nil, nil); got != test.want {
			t.Errorf("%v: status %d, want %d", test.args, got, test.want)
		}
	}
}

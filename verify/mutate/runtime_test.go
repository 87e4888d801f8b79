package mutate_test

import (
	"testing"

	"ovgen/verify/mutate"
)

// Every mistake can be made; the command judges them all.
func TestRuntime(t *testing.T) {
	for _, m := range mutate.Runtime {
		if _, err := m.Apply("../../runtime"); err != nil {
			t.Error(err)
		}
	}
}

package mutate_test

import (
	"testing"

	"ovgen/verify/mutate"
)

// Every mistake can be made; the command judges them all.
func TestCode(t *testing.T) {
	for _, m := range mutate.Code {
		if _, err := m.Apply("../.."); err != nil {
			t.Error(err)
		}
	}
}

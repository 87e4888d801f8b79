package sampling

import (
	"os"
	"strconv"
	"testing"
)

// Env and Soak are the names of the variables of the environment.
const (
	Env  = "OVGEN_SAMPLE"
	Soak = "OVGEN_SOAK"
)

// All reports whether OVGEN_SOAK asks for all that there is.
func All() bool { return os.Getenv(Soak) != "" }

// Takes reports whether the i-th of many is taken where one in every so many is.
func Takes(i, every int) bool {
	number, err := strconv.Atoi(os.Getenv(Env))
	return err != nil || All() || (i+number)%every == 0
}

// Test skips a test that is the i-th of some where one in every so many is taken.
func Test(t testing.TB, i, every int) {
	t.Helper()
	if !Takes(i, every) {
		t.Skipf("%s=%s takes other tests (unset it to take all)", Env, os.Getenv(Env))
	}
}

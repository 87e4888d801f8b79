package emit

import (
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Packages beside those of schedules: the one that runs every other, and their list.
const (
	runName      = "run"
	programsName = "programs"
)

// fixed are the fields and methods that every Plan has.
var fixed = []string{"rank", "ranks", "plan", "kernels", "terms", "issue"}

// checkNames refuses names that the package can't give to what it declares.
func (u *unit) checkNames() error {
	if slices.Contains([]string{runName, programsName, tunedName}, u.name) || !token.IsIdentifier(u.name) {
		return fmt.Errorf("%q can't be the name of its package (rename the variable)", u.name)
	}
	taken := map[string]string{}
	for _, f := range fixed {
		taken[f] = "a field that every plan has"
	}
	var errs []error
	take := func(name, what string) {
		field := unexported(name)
		if other, ok := taken[field]; ok {
			errs = append(errs, fmt.Errorf("%s and %s would both be field %s of its Plan (rename one)", what, other, field))
		}
		taken[field] = what
	}
	for _, b := range u.program.Buffers {
		take(b.Name, "buffer "+b.Name)
	}
	for _, s := range u.program.Semaphores {
		take(s.Name, "semaphore "+s.Name)
	}
	for _, s := range u.program.Streams {
		take(s.Name, "stream "+s.Name)
	}
	return errors.Join(errs...)
}

// distinct refuses schedules whose packages would share a folder.
func distinct(units []*unit) error {
	seen := map[string]string{}
	var errs []error
	for _, u := range units {
		if other, ok := seen[u.name]; ok {
			errs = append(errs, fmt.Errorf("schedules %s and %s: both would be package %s (rename one)", other, u.program.Name, u.name))
		}
		seen[u.name] = u.program.Name
	}
	return errors.Join(errs...)
}

// unexported makes an unexported Go name: A is a, Bias is bias, Agathered is agathered.
func unexported(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[n:]
}

// exported makes an exported Go name: slots is Slots.
func exported(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}

// article is the name with a or an before it.
func article(name string) string {
	if strings.ContainsRune("AEIOU", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// sentence makes a comment of a remark: own shard, in place -> Own shard, in place.
// A variable that it starts with stays as it is.
func sentence(remark string) string {
	s := remark
	if word, _, _ := strings.Cut(remark, " "); len(word) > 1 || word == "a" {
		r, n := utf8.DecodeRuneInString(remark)
		s = string(unicode.ToUpper(r)) + remark[n:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

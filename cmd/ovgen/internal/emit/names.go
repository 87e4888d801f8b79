package emit

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// Names of packages that no schedule may have: the command that runs all packages, their list, the headers of their
// kernels, the simulator with the kernels, and the schedules.
const (
	runName       = "run"
	programsName  = "programs"
	headersName   = "device"
	hostName      = "host"
	schedulesName = "schedules"
)

// fixed are the fields and methods of a Plan that are not named after its program.
var fixed = []string{"kernels", "terms", "issue"}

// reserved are names of packages that Go, or another generated package, uses.
var reserved = map[string]string{
	runName:       "the package that runs the others",
	programsName:  "the package that lists the others",
	headersName:   "the package of the headers that all kernels include",
	hostName:      "the package that lets the others run in the simulator",
	schedulesName: "the package of the schedules that the others were generated from",
	tunedName:     "the package that chooses among the others",
	"main":        "what Go calls a program",
	"internal":    "what Go calls packages that others can't import",
	"vendor":      "what Go calls copies of other modules",
	"testdata":    "a folder that Go leaves out",
	"init":        "a function that every Go file may have",
}

// systems are the endings of names of files that Go builds only for tests or for one system.
var systems = []string{"test", "aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js",
	"linux", "netbsd", "openbsd", "plan9", "solaris", "unix", "wasip1", "windows", "386", "amd64", "arm", "arm64",
	"loong64",
	"mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64", "s390x", "wasm"}

// PackageName is the name of the package of a schedule.
func PackageName(schedule string) string { return strings.ToLower(schedule) }

// CheckNames refuses a schedule whose name can't be the name of a package, or whose package would declare a name twice.
func CheckNames(in Input) error {
	u := &unit{Input: in, name: PackageName(in.Program.Name), program: in.Program}
	return u.checkNames()
}

// checkPackage refuses names that no Go package can have.
func checkPackage(name string) error {
	what, taken := reserved[name]
	last := name[strings.LastIndexByte(name, '_')+1:]
	switch {
	case taken:
		what = "it is " + what
	case token.IsKeyword(name):
		what = "it is a word of Go's"
	case strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }):
		what = "import paths are ASCII"
	case last != name && slices.Contains(systems, last):
		what = "Go builds files whose names end in _" + last + " in some places only"
	case !token.IsIdentifier(name):
		what = "it is no Go name"
	default:
		return nil
	}
	return fmt.Errorf("%q can't be the name of its package: %s (rename the variable)", name, what)
}

// checkNames refuses names that the package can't declare.
func (u *unit) checkNames() error {
	if err := checkPackage(u.name); err != nil {
		return err
	}
	taken := map[string]string{}
	for _, f := range fixed {
		taken[f] = "a field that every plan has"
	}
	var errs []error
	take := func(name, what string) {
		field := unexported(name)
		if token.IsKeyword(field) {
			errs = append(errs, fmt.Errorf("%s would be field %s of its Plan, a word of Go's (rename it)", what, field))
		}
		if other, ok := taken[field]; ok {
			errs = append(errs, fmt.Errorf("%s and %s would both be field %s of its Plan (rename one)", what, other,
				field))
		}
		taken[field] = what
	}
	for _, name := range u.program.Schedule.Numbers() {
		take(name, "number "+name+" of its shape")
	}
	for _, b := range u.program.Buffers {
		take(b.Name, "buffer "+b.Name)
	}
	for _, s := range u.program.Semaphores {
		take(s.Name, "semaphore "+s.Name)
	}
	for _, s := range u.kernelCalls() {
		take(callKernel(s.Name), "the kernel of call "+s.Name)
	}
	for _, s := range u.program.Streams {
		take(s.Name, "stream "+s.Name)
	}
	return errors.Join(append(errs, u.checkCalls())...)
}

// distinct refuses schedules whose packages would share a folder.
func distinct(units []*unit) error {
	seen := map[string]string{}
	var errs []error
	for _, u := range units {
		if other, ok := seen[u.name]; ok {
			errs = append(errs, fmt.Errorf("schedules %s and %s: both would be package %s (rename one)", other,
				u.program.Name, u.name))
		}
		seen[u.name] = u.program.Name
	}
	return errors.Join(errs...)
}

// importAs imports a schedule's package in a file, under another name if the file uses the package's name otherwise.
func (u *unit) importAs(f *jen.File, opt Options, own ...string) {
	if slices.Contains(own, u.name) || types.Universe.Lookup(u.name) != nil {
		f.ImportAlias(u.importPath(opt), u.name+"plan")
	} else {
		f.ImportName(u.importPath(opt), u.name)
	}
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

// sentence makes a comment of a remark: own shard, in place -> Own shard, in place. A variable at the start stays as it
// is.
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

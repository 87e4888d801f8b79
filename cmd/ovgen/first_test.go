package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ovgen/verify/sampling"
)

// page is what the test runs, and simulated what it adds to commands meant for GPUs.
const (
	page      = "docs/first-schedule.md"
	simulated = "-driver sim -m 64 -k 32 -n 48"
)

// The page's listings are written and its commands run, in order and in one shell; each
// prints what the page says, but for times and stamps.
func TestFirstSchedule(t *testing.T) {
	sampling.Test(t, 2, 4)
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(repo, ".toolchain/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")); err != nil {
		t.Skipf("the page needs what make toolchain fetches: %v", err)
	}
	readSources(t, repo)
	text, err := os.ReadFile(filepath.Join(repo, page))
	if err != nil {
		t.Fatal(err)
	}
	steps := parsePage(t, string(text))
	if !sampling.All() {
		t.Log("go tool is a stand-in: OVGEN_SOAK is not set")
	}
	cmd := exec.Command("bash", "-c", script(steps))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), firstVars(t, repo)...)
	cmd.Env = append(cmd.Env, sampling.Env+"=", "TOOL="+filepath.Join(t.TempDir(), "ovgen"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := strings.Split(fetching.ReplaceAllString(string(out), ""), mark)
	if len(printed) != len(steps)+1 {
		t.Fatalf("%d of %d steps ran:\n%s", len(printed)-1, len(steps), out)
	}
	for i, s := range steps {
		if s.file != "" {
			s.prints = "" // it prints nothing
		}
		if !matches(s.prints, printed[i+1]) {
			t.Errorf("%s:%d: %s\nprinted:\n%s\nthe page has:\n%s", page, s.line, s.command, printed[i+1], s.prints)
			break // what follows builds on it
		}
	}
}

// firstVars let the module be made without a network, from what the tests' own module
// has fetched.
func firstVars(t *testing.T, repo string) []string {
	t.Helper()
	vars := []string{"OVGEN=" + repo, "GOSUMDB=off", "GOFLAGS=" + os.Getenv("GOFLAGS") + " -buildvcs=false",
		"GOWORK=off", "OVGEN_NVRTC="}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return append(vars, "GOPROXY=file://"+cache+"/cache/download,"+proxy)
}

// step is a command with what it prints, or a file.
type step struct {
	line    int
	command string
	prints  string
	gpu     bool
	file    string // its name; the text is in prints
}

// fence starts or ends a block: its language and what else stands there.
var fence = regexp.MustCompile("^```(\\w*) ?(.*)$")

// parsePage reads the blocks: console, console gpu, and go FILE.
func parsePage(t *testing.T, text string) []step {
	t.Helper()
	var steps []step
	language, rest := "", ""
	for i, line := range strings.SplitAfter(text, "\n") {
		bare := strings.TrimSuffix(line, "\n")
		m := fence.FindStringSubmatch(bare)
		switch {
		case m != nil && language != "":
			language = ""
		case m != nil:
			language, rest = m[1], m[2]
			switch {
			case language == "go" && rest != "":
				steps = append(steps, step{line: i + 1, file: rest})
			case language != "console" || rest != "" && rest != "gpu":
				t.Fatalf("%s:%d: no test for a block of %q", page, i+1, bare)
			}
		case language == "console" && strings.HasPrefix(bare, "$ "):
			steps = append(steps, step{line: i + 1, command: bare[2:], gpu: rest == "gpu"})
		case language != "":
			if len(steps) == 0 {
				t.Fatalf("%s:%d: output of no command", page, i+1)
			}
			steps[len(steps)-1].prints += line
		}
	}
	if len(steps) == 0 {
		t.Fatalf("%s has no commands", page)
	}
	return steps
}

// mark stands before what each step prints.
const mark = "\x01\n"

// tool stands for go tool, which would compile everything once more: none of the flags in GOFLAGS reach it.
const tool = `go() {
  [ "$1" = tool ] || { command go "$@"; return; }
  [ -e "$TOOL" ] || command go build -o "$TOOL" "$(command go list tool)" || return
  if [ "$2" = -n ]; then echo "$TOOL"; else "$TOOL" "${@:3}"; fi
}
`

// script runs the steps. Commands may fail: what they print tells.
func script(steps []step) string {
	var b strings.Builder
	b.WriteString("exec 2>&1\n")
	if !sampling.All() {
		b.WriteString(tool)
	}
	for _, s := range steps {
		fmt.Fprintf(&b, "printf '\\001\\n'\n")
		switch {
		case s.file != "":
			fmt.Fprintf(&b, "mkdir -p %q && cat > %q <<'END OF FILE'\n%sEND OF FILE\n",
				filepath.Dir(s.file), s.file, s.prints)
		case s.gpu:
			b.WriteString(s.command + " " + simulated + " >out.txt || cat out.txt\n")
		default:
			b.WriteString(s.command + "\n")
		}
	}
	b.WriteString("true\n")
	return b.String()
}

// fetching matches the go command's messages about modules that the cache lacks.
var fetching = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// varies matches the texts that differ from run to run: times, rates and stamps.
var varies = regexp.MustCompile(`\b[0-9a-f]{16}\b|\b[0-9]+\.[0-9]+\b|\b[0-9]+ %`)

// matches compares by lines, blanks in a row as one; a line of the page that is ...
// stands for any number of lines.
func matches(want, got string) bool {
	var pattern bytes.Buffer
	pattern.WriteString("^")
	for line := range strings.Lines(plain(want)) {
		if line == "...\n" {
			pattern.WriteString("(?s:.*\n)?")
		} else {
			pattern.WriteString(regexp.QuoteMeta(line))
		}
	}
	return regexp.MustCompile(pattern.String() + "$").MatchString(plain(got))
}

var blanks = regexp.MustCompile(`[ \t]+`)

func plain(text string) string {
	return blanks.ReplaceAllString(varies.ReplaceAllString(text, "#"), " ")
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		want, got string
		match     bool
	}{
		{"", "", true},
		{"", "x\n", false},
		{"a  b 1.5 ms\n", "a b 27.25 ms\n", true},
		{"12 runs\n", "13 runs\n", false},
		{"stamp 0123456789abcdef\n", "stamp fedcba9876543210\n", true},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"a\n...\nd\n", "a\nd\n", true},
		{"a\n...\nd\n", "b\nd\n", false},
		{"...\n", "", true},
		{"a (b)\n", "a (c)\n", false},
	} {
		if got := matches(test.want, test.got); got != test.match {
			t.Errorf("%q, of a page that has %q: %v", test.got, test.want, got)
		}
	}
}

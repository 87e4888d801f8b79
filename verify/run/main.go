package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/verify/harness"
	"ovgen/verify/reference"
)

// Exit statuses of Main.
const (
	exitRight   = 0
	exitWrong   = 1 // a result is wrong
	exitTrouble = 2
)

// showProgress is set for the ranks where standard error is a terminal, which they
// can't see themselves.
const showProgress = "OVGEN_PROGRESS"

// Main is generated/run: it reads the command line, starts the ranks or is one
// of them, and returns the exit status: 0, 1 when a result is wrong, 2 for
// trouble. code holds the kernels described in kernels.go.
func Main(programs []harness.Program, code *driver.Code) int {
	o, err := parse(os.Args[1:], programs)
	if len(os.Args) < 2 {
		if p, _ := launch.FindPlace(); p.Rank == 0 {
			fmt.Fprint(os.Stderr, usage)
		}
		err = errors.New("no command")
	}
	switch {
	case errors.Is(err, errHelp):
		fmt.Print(usage)
		return exitRight
	case errors.Is(err, errUsage):
		p, _ := launch.FindPlace()
		launch.Report(os.Stderr, errors.New(strings.TrimSuffix(usage, "\n")), p.Rank == 0)
		return exitTrouble
	case err != nil:
		p, _ := launch.FindPlace()
		launch.Report(os.Stderr, fmt.Errorf(complaint+"%w", err), p.Rank == 0) // the ranks of a launcher read the same line
		return exitTrouble
	case o.command == "list":
		list(programs, o.json)
		return exitRight
	case launch.IsRank():
		return runRank(o, code)
	}
	return start(o)
}

// start starts the ranks, copies of this process, and waits for them.
func start(o *options) int {
	own := &listener{to: os.Stderr}
	l := launch.Command{Ranks: o.ranks, Args: os.Args[1:], Driver: o.driver, Stderr: own}
	if _, err := unix.IoctlGetWinsize(int(os.Stderr.Fd()), unix.TIOCGWINSZ); err == nil {
		l.Env = []string{showProgress + "=1"}
	}
	err := l.Run(context.Background())
	var failed *launch.RankError
	switch {
	case err == nil:
		return exitRight
	case !errors.As(err, &failed):
		fmt.Fprintf(os.Stderr, "run: %v\n", err)
	case failed.Rank == 0 && failed.Status == fmt.Sprint("exit status ", exitWrong):
		return exitWrong
	case !own.failed: // rank 0 has said nothing yet
		fmt.Fprintf(os.Stderr, "run: %v\n", failed)
	}
	return exitTrouble
}

// listener passes on rank 0's standard error and notes whether an error was said:
// all ranks fail together, and one says enough.
type listener struct {
	to     io.Writer
	failed bool
}

// Write passes on.
func (l *listener) Write(p []byte) (int, error) {
	l.failed = l.failed || bytes.Contains(p, []byte(complaint))
	return l.to.Write(p)
}

// complaint begins each error that a rank prints.
const complaint = "run: "

// runRank is one rank, from joining to leaving.
func runRank(o *options, code *driver.Code) int {
	place, err := launch.FindPlace()
	if err != nil {
		fmt.Fprintf(os.Stderr, complaint+"%v\n", err)
		return exitTrouble
	}
	right, err := work(context.Background(), o, code)
	switch {
	case err != nil:
		err = fmt.Errorf(complaint+"%w", err)
		if place.Launcher == "ovgen" { // it passes on one rank's words, whichever it is
			fmt.Fprintln(os.Stderr, err)
		} else {
			launch.Report(os.Stderr, err, group.Reports(err, place.Rank))
		}
		return exitTrouble
	case !right && place.Rank == 0:
		return exitWrong // the others leave quietly: rank 0 has said it
	}
	return exitRight
}

func work(ctx context.Context, o *options, code *driver.Code) (right bool, err error) {
	b, err := join(ctx, o, code)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	b.greet()
	if err := b.affordable(); err != nil {
		return false, err
	}
	switch o.command {
	case "bench":
		return true, b.bench(ctx)
	case "tune":
		return true, b.tune(ctx)
	case "trace":
		return true, b.trace(ctx)
	}
	return b.verify(ctx)
}

// listed is what list says of a program.
type listed struct {
	Program string   `json:"program"`
	Proof   string   `json:"proof"`
	Ranks   []int    `json:"ranks,omitempty"` // that it was proven for
	Op      string   `json:"op"`
	Types   []string `json:"types"`
	Tensors []placed `json:"tensors"`
}

// placed is a tensor where it lies.
type placed struct {
	Name      string `json:"name"`
	Placement string `json:"placement"`
	Written   bool   `json:"written,omitempty"`
	Root      bool   `json:"root,omitempty"` // on rank 0 only
}

// list prints the programs that this binary holds.
func list(programs []harness.Program, asJSON bool) {
	if asJSON {
		for _, p := range programs {
			printJSON(listOf(&p))
		}
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\tproof\top\tplacements")
	for _, p := range programs {
		proof, _, _ := strings.Cut(p.Proof, ", stamp")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, proof, p.Op, placements(&p))
	}
	w.Flush()
}

func listOf(p *harness.Program) listed {
	l := listed{Program: p.Name, Proof: p.Proof, Ranks: p.Ranks, Op: p.Op}
	for _, t := range p.Types {
		l.Types = append(l.Types, t.String())
	}
	for _, t := range p.Tensors {
		l.Tensors = append(l.Tensors, placed{t.Name, t.String(), reference.Result(t.Name), t.Root})
	}
	return l
}

// placements are "A [DIDx(D), M/D, K]  B [K, N] -> C [Stream(D), M/D, N]", and the
// types where some are missing.
func placements(p *harness.Program) string {
	var read, written []string
	for _, t := range p.Tensors {
		text := t.Name + " " + t.String()
		if t.Root {
			text += " on rank 0"
		}
		if reference.Result(t.Name) {
			written = append(written, text)
		} else {
			read = append(read, text)
		}
	}
	text := strings.Join(read, "  ") + " -> " + strings.Join(written, "  ")
	if len(p.Types) < 3 {
		text += fmt.Sprintf("  %v only", p.Types)
	}
	return text
}

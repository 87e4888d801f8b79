package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launch"
	"ovgen/verify/harness"
)

// Exit statuses of Main.
const (
	exitRight   = 0
	exitWrong   = 1 // a result is wrong
	exitTrouble = 2
)

// showProgress is set for the ranks if standard error is a terminal, which the ranks can't see.
const showProgress = "OVGEN_PROGRESS"

// Main is generated/run: it reads the command line, starts the ranks or is one of them, and returns the exit status: 0,
// 1 when a result is wrong, 2 for trouble. code has the kernels described in kernels.go.
func Main(programs []harness.Program, code *driver.Code) int {
	c, err := parse(os.Args[1:], programs)
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
		// The ranks of a launcher read the same line.
		launch.Report(os.Stderr, fmt.Errorf(complaint+"%w", err), p.Rank == 0)
		return exitTrouble
	}
	return c.run(code)
}

// work is the work of a rank, from joining to leaving; its seat is nil where the rank is a process.
type work func(ctx context.Context, s *seat) (right bool, err error)

// start starts the ranks or is one of them, and returns the exit status.
func (o *running) start(do work) int {
	switch {
	case launch.IsRank():
		return runRank(do)
	case o.oneProcess:
		return oneProcess(o.ranks, do)
	}
	return startRanks(launch.Command{Ranks: o.ranks, Hosts: o.hosts, Driver: o.driver})
}

// startRanks starts the ranks, copies of this process, and waits for them.
func startRanks(l launch.Command) int {
	own := &listener{to: os.Stderr}
	l.Args, l.Stderr = os.Args[1:], own
	if onTerminal() {
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
	case !own.failed: // rank 0 has printed no error yet
		fmt.Fprintf(os.Stderr, "run: %v\n", failed)
	}
	return exitTrouble
}

// onTerminal reports whether standard error is a terminal.
func onTerminal() bool {
	_, err := unix.IoctlGetWinsize(int(os.Stderr.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// oneProcess runs all ranks in this process. It prints once an error that all ranks get.
func oneProcess(ranks int, do work) int {
	if onTerminal() {
		os.Setenv(showProgress, "1")
	}
	network := store.Memory()
	rights := make([]bool, ranks)
	err := group.Each(ranks, func(rank int) (err error) {
		rights[rank], err = do(context.Background(), &seat{rank, network})
		return err
	})
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, complaint+"%v\n", err)
		return exitTrouble
	case !rights[0]:
		return exitWrong
	}
	return exitRight
}

// listener passes on rank 0's standard error, and notes whether it printed an error: all ranks fail together, and one
// message is enough.
type listener struct {
	to     io.Writer
	failed bool
}

// Write passes the text on.
func (l *listener) Write(p []byte) (int, error) {
	l.failed = l.failed || bytes.Contains(p, []byte(complaint))
	return l.to.Write(p)
}

// complaint begins each error that a rank prints.
const complaint = "run: "

// runRank is one rank, from joining to leaving.
func runRank(do work) int {
	place, err := launch.FindPlace()
	if err != nil {
		fmt.Fprintf(os.Stderr, complaint+"%v\n", err)
		return exitTrouble
	}
	right, err := do(context.Background(), nil)
	switch {
	case err != nil:
		err = fmt.Errorf(complaint+"%w", err)
		if place.Launcher == "ovgen" { // it passes on the words of one rank, whichever it is
			fmt.Fprintln(os.Stderr, err)
		} else {
			launch.Report(os.Stderr, err, group.Reports(err, place.Rank))
		}
		return exitTrouble
	case !right && place.Rank == 0:
		return exitWrong // the others leave quietly: rank 0 has printed it
	}
	return exitRight
}

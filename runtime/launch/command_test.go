package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"ovgen/runtime/launch"
	"ovgen/verify/launchtest"
)

// rankMode makes the test binary behave as a rank, or as a program that launches.
const rankMode = "OVGEN_TEST_MODE"

func TestMain(m *testing.M) {
	mode, dir, _ := strings.Cut(os.Getenv(rankMode), "|")
	place, _ := launch.FindPlace() // a program that launches has none
	rank := place.Rank
	switch {
	case mode == "":
		os.Exit(m.Run())
	case mode == "echo":
		os.Exit(serve(rank))
	case mode == "launch" && !launch.IsRank():
		err := (&launch.Command{Ranks: 3, Grace: 300 * time.Millisecond}).Run(context.Background())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("out of %d\n", rank)
	fmt.Fprintf(os.Stderr, "err of %d\n", rank)
	if dir != "" {
		if err := launchtest.Note(dir, place); err != nil {
			panic(err)
		}
	}
	switch {
	case mode == "pass":
		fmt.Print("the end") // without a line feed
	case mode == "fail" && rank == 2:
		for came := 0; came < 4; time.Sleep(time.Millisecond) {
			notes, _ := os.ReadDir(dir)
			came = len(notes)
		}
		fmt.Fprintln(os.Stderr, "no such buffer")
		os.Exit(3)
	case mode == "fail" && rank == 0:
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM) // after the failure was seen
		<-asked
		fmt.Fprintln(os.Stderr, "rank 2 is gone")
		os.Exit(1)
	case mode == "fail" || mode == "launch" || mode == "stay":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	os.Exit(0)
}

// echo is the ranks' argument to Serve.
type echo int

// Say replies the rank and the text. Rank 1 ends instead; rank 0 stops by the text "stop".
func (e echo) Say(text string, reply *string) error {
	if e == 1 {
		os.Exit(0)
	}
	if text == "stop" {
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	*reply = fmt.Sprint(int(e), text)
	return nil
}

// serve is a rank that another program calls, and not twice.
func serve(rank int) int {
	started, err := launch.Serve(echo(rank))
	again, second := launch.Serve(echo(rank))
	if err != nil || !started || again || second != nil {
		fmt.Fprintln(os.Stderr, started, err, again, second)
		return 1
	}
	return 0
}

// TestStart calls ranks. The call of one that ends fails, Done says that it has ended, and another one ends when this
// program says so.
func TestStart(t *testing.T) {
	job, err := (&launch.Command{Ranks: 2, Env: []string{rankMode + "=echo"}}).Start()
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if err := job.Ranks[1].Call("Rank.Say", "Hello", &text); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("of rank 1: %q, %v", text, err)
	}
	<-job.Done
	if err := job.Ranks[0].Call("Rank.Say", "Hello", &text); err != nil || text != "0Hello" {
		t.Errorf("of rank 0: %q, %v", text, err)
	}
	if err := job.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if started, err := launch.Serve(echo(0)); started || err != nil {
		t.Errorf("a program that was not started as a rank: %v, %v", started, err)
	}
}

// TestCloseStopped closes ranks while one of them is stopped: it is killed when the context has ended.
func TestCloseStopped(t *testing.T) {
	job, err := (&launch.Command{Ranks: 2, Env: []string{rankMode + "=echo"}, Grace: 50 * time.Millisecond}).Start()
	if err != nil {
		t.Fatal(err)
	}
	stopped := job.Ranks[0].Go("Rank.Say", "stop", new(string), nil)
	ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	if err := job.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if <-stopped.Done; stopped.Error == nil {
		t.Error("a stopped rank has answered")
	}
}

func TestOutput(t *testing.T) {
	for _, x := range []struct {
		prefix   bool
		out, err []string
	}{
		{false, []string{"out of 0", "the end"}, []string{"err of 0"}},
		{true, []string{"[0] out of 0", "[1] out of 1", "[2] out of 2", "[0] the end", "[1] the end",
			"[2] the end"}, []string{"[0] err of 0", "[1] err of 1", "[2] err of 2"}},
	} {
		dir := t.TempDir()
		var out, errs bytes.Buffer
		l := launch.Command{Ranks: 3, Env: []string{rankMode + "=pass|" + dir}, Stdout: &out, Stderr: &errs,
			Prefix: x.prefix}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		launchtest.Ended(t, launchtest.Pids(t, dir, 3), 0)
		for _, y := range []struct {
			got  string
			want []string
		}{{out.String(), x.out}, {errs.String(), x.err}} {
			lines := strings.Split(strings.TrimSpace(y.got), "\n")
			if len(lines) != len(y.want) {
				t.Errorf("prefix %v: %q, want the lines %q", x.prefix, y.got, y.want)
			}
			for _, w := range y.want {
				if !strings.Contains(y.got+"\n", w+"\n") {
					t.Errorf("prefix %v: %q lacks %q", x.prefix, y.got, w)
				}
			}
		}
	}
}

func TestFailureIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	l := launch.Command{Ranks: 4, Env: []string{rankMode + "=fail|" + dir}, Stdout: &out, Stderr: &errs,
		Grace: 500 * time.Millisecond}
	start := time.Now()
	err := l.Run(t.Context())
	var r *launch.RankError
	if !errors.As(err, &r) || r.Rank != 2 || err.Error() != "rank 2: exit status 3: err of 2\nno such buffer" {
		t.Errorf("error %q", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the others ended after %v", took)
	}
	// The failure may overtake the line in rank 0's pipe.
	if got := errs.String(); got != "" && got != "err of 0\n" {
		t.Errorf("rank 0's stderr went on after the failure: %q", got)
	}
	launchtest.Ended(t, launchtest.Pids(t, dir, 4), 0)
}

func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var pids []int
	go func() {
		defer cancel()
		pids = launchtest.Pids(t, dir, 2)
	}()
	l := launch.Command{Ranks: 2, Env: []string{rankMode + "=stay|" + dir}, Stdout: new(bytes.Buffer),
		Stderr: new(bytes.Buffer), Grace: 100 * time.Millisecond}
	if err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	launchtest.Ended(t, pids, 0)
}

// TestLauncherEnds interrupts and kills the program that launched.
func TestLauncherEnds(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(s.String(), func(t *testing.T) {
			dir := t.TempDir()
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), rankMode+"=launch|"+dir)
			var errs bytes.Buffer
			c.Stderr, c.WaitDelay = &errs, time.Second
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			pids := launchtest.Pids(t, dir, 3)
			if err := c.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			err := c.Wait()
			launchtest.Ended(t, pids, time.Second)
			if s != syscall.SIGKILL && !strings.Contains(errs.String(), "interrupted") || err == nil {
				t.Errorf("%v: %q", err, &errs)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, l := range []launch.Command{{Ranks: 0}, {Ranks: 2, Path: "/no/such/binary"}, {Ranks: 3, Hosts: 2},
		{Ranks: 1, Hosts: 2}, {Ranks: 1, Hosts: -1}} {
		if err := l.Run(t.Context()); err == nil {
			t.Errorf("%+v ran", l)
		}
	}
}

package launch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"ovgen/runtime/launcher"
)

// Command starts the ranks of a program: copies of a binary with OVGEN_RANK, OVGEN_SIZE and a fresh job name. When the
// launching process ends, for any reason, its ranks die.
type Command struct {
	Ranks  int
	Hosts  int      // number of hosts that the ranks play (see launcher.PlayedHost); 0 and 1: none but this host
	Path   string   // the binary; empty means this process's binary
	Args   []string // its arguments
	Env    []string // added to this process's environment
	Driver string   // OVGEN_DRIVER of the ranks; empty leaves it
	// Stdout and Stderr take the output of rank 0; nil means this process's. The output of the other ranks is dropped
	// unless Prefix is set. The error of Run contains the standard error of the rank that fails first. Once a rank has
	// failed, Stderr takes no more output: ranks that fail later only repeat the error.
	Stdout, Stderr io.Writer
	// Prefix passes on the output of all ranks, each line with the prefix "[rank] ".
	Prefix bool
	// Grace is the time that the ranks have to end by themselves once a rank has failed, and again to end after
	// SIGTERM; 0 means 2 s.
	Grace time.Duration

	far   []*os.File // the ranks' ends of connections
	ended func()     // called when a rank has ended, unless nil
}

// RankError is the failure of the rank that failed first.
type RankError struct {
	Rank   int
	Status string // "exit status 1", "signal: killed"
	Stderr string // the end of its standard error, unless Stderr has taken it
}

// Error is "rank 2: exit status 1: TEXT".
func (e *RankError) Error() string {
	s := fmt.Sprintf("rank %d: %s", e.Rank, e.Status)
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// ErrInterrupted: SIGINT or SIGTERM ended a Run.
var ErrInterrupted = errors.New("interrupted")

// exit is the end of one rank.
type exit struct {
	rank int
	err  error
}

// Run starts the ranks and returns when all have ended. When a rank fails, when ctx ends, and on SIGINT or SIGTERM, it
// ends the other ranks too: by SIGTERM, and by SIGKILL where SIGTERM does not end them. The error is a *RankError of
// the rank that failed first, or ErrInterrupted, or wraps ctx's error or, on a system other than Linux,
// driver.ErrUnavailable.
func (l *Command) Run(ctx context.Context) error {
	defer l.disconnect()
	if l.Ranks < 1 {
		return fmt.Errorf("launch %d ranks: at least 1 is needed", l.Ranks)
	}
	if l.Hosts < 0 || l.Hosts > 1 && l.Ranks%l.Hosts != 0 {
		return fmt.Errorf("launch %d ranks on %d hosts: each host must have as many", l.Ranks, l.Hosts)
	}
	if err := launcher.Supported(); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	job := strings.ToLower(rand.Text())
	out := &outputs{stdout: cmp.Or[io.Writer](l.Stdout, os.Stdout), stderr: cmp.Or[io.Writer](l.Stderr, os.Stderr),
		prefix: l.Prefix}
	ended := make(chan exit, l.Ranks)
	pids, release, err := l.start(job, out, ended)
	defer release()
	l.disconnect() // so that a connection closes when its rank ends
	w := &warden{pids: pids, grace: cmp.Or(l.Grace, 2*time.Second), ended: l.ended}
	if err != nil {
		w.signal(syscall.SIGKILL)
		for range pids {
			<-ended
		}
		return err
	}
	return w.wait(ctx, ended, signals, out)
}

// start forks the ranks from one thread that lives until release: the kernel
// ends a child when the thread that forked it ends.
func (l *Command) start(job string, out *outputs, ended chan<- exit) (pids map[int]int, release func(), err error) {
	path := l.Path
	if path == "" {
		if path, err = os.Executable(); err != nil {
			return nil, func() {}, fmt.Errorf("launch: %w", err)
		}
	}
	pids = map[int]int{}
	started, over := make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for r := range l.Ranks {
			c := l.command(path, job, r, out)
			if err = c.Start(); err != nil {
				err = fmt.Errorf("launch rank %d: %w", r, err)
				break
			}
			pids[r] = c.Process.Pid
			go func() { ended <- exit{r, c.Wait()} }()
		}
		close(started)
		<-over
	}()
	<-started
	return pids, func() { close(over) }, err
}

func (l *Command) command(path, job string, rank int, out *outputs) *exec.Cmd {
	c := exec.Command(path, l.Args...)
	c.Env = append(os.Environ(), l.Env...)
	if os.Getenv("CUDA_DEVICE_MAX_CONNECTIONS") == "" {
		c.Env = append(c.Env, "CUDA_DEVICE_MAX_CONNECTIONS=32")
	}
	if l.Driver != "" {
		c.Env = append(c.Env, launcher.EnvDriver+"="+l.Driver)
	}
	c.Env = append(c.Env, fmt.Sprintf("%s=%d", launcher.EnvRank, rank), fmt.Sprintf("%s=%d", launcher.EnvSize, l.Ranks),
		launcher.EnvJob+"="+job)
	if host := launcher.PlayedHost(rank, l.Ranks, l.Hosts); host != "" {
		c.Env = append(c.Env, launcher.EnvHost+"="+host)
	}
	if len(l.far) > 0 {
		c.ExtraFiles = l.far[rank : rank+1]
		c.Env = append(c.Env, envConnection+"=1")
	}
	c.Stdout, c.Stderr = out.of(rank)
	c.WaitDelay = time.Second
	c.SysProcAttr = rankAttributes()
	return c
}

// warden ends the ranks.
type warden struct {
	pids  map[int]int // of the living processes, by rank
	grace time.Duration
	ended func()
}

// wait returns when all ranks have ended.
func (w *warden) wait(ctx context.Context, ended <-chan exit, signals <-chan os.Signal, out *outputs) error {
	var first error
	var timer <-chan time.Time
	next := syscall.SIGTERM
	end := func(why error, after time.Duration) {
		if first == nil {
			first, timer = why, time.After(after)
		}
	}
	done := ctx.Done()
	for len(w.pids) > 0 {
		select {
		case e := <-ended:
			delete(w.pids, e.rank)
			if w.ended != nil {
				w.ended()
			}
			out.flush(e.rank)
			if e.err != nil && first == nil {
				end(out.failed(e), w.grace)
			}
		case <-done:
			done = nil
			end(fmt.Errorf("launch: %w", context.Cause(ctx)), 0)
		case s := <-signals:
			if first != nil { // the second signal
				w.signal(syscall.SIGKILL)
			}
			end(fmt.Errorf("launch: %w by %v", ErrInterrupted, s), 0)
		case <-timer:
			w.signal(next)
			next, timer = syscall.SIGKILL, time.After(w.grace)
		}
	}
	return first
}

// signal sends a signal to the process groups of the living ranks.
func (w *warden) signal(s syscall.Signal) {
	for _, pid := range w.pids {
		_ = syscall.Kill(-pid, s) // the process may have ended just now
	}
}

// outputs sorts the output of the ranks.
type outputs struct {
	stdout, stderr io.Writer
	prefix         bool

	mu    sync.Mutex
	muted bool
	tails map[int]*tail
}

// of returns the writers of a rank's stdout and stderr. Rank 0 writes to stdout
// directly, so it can see a terminal.
func (o *outputs) of(rank int) (stdout, stderr io.Writer) {
	if o.tails == nil {
		o.tails = map[int]*tail{}
	}
	t := &tail{out: o, rank: rank}
	o.tails[rank] = t
	switch {
	case o.prefix:
		t.stdout = &lines{out: o, rank: rank, to: o.stdout}
		return t.stdout, t
	case rank == 0:
		return o.stdout, t
	}
	return nil, t
}

// flush ends a rank's last lines.
func (o *outputs) flush(rank int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tails[rank]
	if len(t.line) > 0 && !o.muted {
		t.line = prefixed(o.stderr, rank, append(t.line, '\n'))
	}
	if t.stdout != nil && len(t.stdout.line) > 0 {
		t.stdout.line = prefixed(o.stdout, rank, append(t.stdout.line, '\n'))
	}
}

// failed makes the error of the first failure; later failures are not shown.
func (o *outputs) failed(e exit) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.muted = true
	err := &RankError{Rank: e.rank, Status: e.err.Error()}
	if t := o.tails[e.rank]; !t.shown() {
		err.Stderr = strings.TrimSpace(string(t.last))
	}
	return err
}

// tail takes a rank's stderr and keeps its end for the error. Until a rank fails, it also passes on the stderr of rank
// 0, or of all ranks with Command.Prefix.
type tail struct {
	out  *outputs
	rank int
	last []byte
	line []byte

	stdout *lines // the rank's stdout, with Command.Prefix
}

const tailBytes = 8 << 10

func (t *tail) shown() bool { return t.rank == 0 || t.out.prefix }

// Write keeps the end of the output.
func (t *tail) Write(p []byte) (int, error) {
	t.out.mu.Lock()
	defer t.out.mu.Unlock()
	t.last = append(t.last, p...)
	if over := len(t.last) - tailBytes; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	switch {
	case !t.shown() || t.out.muted:
	case t.out.prefix:
		t.line = prefixed(t.out.stderr, t.rank, append(t.line, p...))
	default:
		t.out.stderr.Write(p)
	}
	return len(p), nil
}

// lines passes on whole lines, each with its rank as a prefix.
type lines struct {
	out  *outputs
	rank int
	to   io.Writer
	line []byte
}

// Write passes on whole lines.
func (l *lines) Write(p []byte) (int, error) {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.line = prefixed(l.to, l.rank, append(l.line, p...))
	return len(p), nil
}

// prefixed writes the whole lines of text and returns the rest.
func prefixed(to io.Writer, rank int, text []byte) []byte {
	for {
		line, rest, found := strings.Cut(string(text), "\n")
		if !found {
			return text
		}
		fmt.Fprintf(to, "[%d] %s\n", rank, line)
		text = []byte(rest)
	}
}

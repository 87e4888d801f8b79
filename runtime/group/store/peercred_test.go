package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestForeignUser joins processes that think they belong to other users: each
// end refuses the other before a byte is read.
func TestForeignUser(t *testing.T) {
	me := os.Geteuid()
	right, wrong := sockets{uid: me, peer: me}, sockets{uid: me, peer: me + 1}
	job := fmt.Sprintf("%d-foreign", os.Getpid())

	l, err := right.Listen(job)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := wrong.Dial(t.Context(), job); !errors.Is(err, ErrForeign) {
		t.Errorf("a client took a foreign rank 0: %v", err)
	}
	client := Config{Job: job, Rank: 1, Size: 2, Timeout: time.Minute, Network: wrong}
	if _, err := Join(t.Context(), client); !errors.Is(err, ErrForeign) {
		t.Errorf("join through a foreign rank 0: %v", err)
	}

	zero := Config{Job: job, Rank: 0, Size: 2, Timeout: time.Minute, Network: wrong}
	if _, err := Join(t.Context(), zero); !errors.Is(err, ErrForeign) ||
		!strings.Contains(err.Error(), "the job's name is taken (choose another name)") {
		t.Errorf("join as rank 0 where another user is: %v", err)
	}

	strict, err := wrong.Listen(job + "2")
	if err != nil {
		t.Fatal(err)
	}
	defer strict.Close()
	go strict.Accept()
	conn, err := right.Dial(t.Context(), job+"2")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("rank 0 kept a foreign client: %v", err)
	}
}

// foreignJob makes the test binary a process of another user that wants to be
// rank 1 of that job.
const foreignJob = "OVGEN_TEST_FOREIGN"

func TestMain(m *testing.M) {
	job := os.Getenv(foreignJob)
	if job == "" {
		os.Exit(m.Run())
	}
	// It lies about whose job it is and does not look at who serves.
	_, err := Join(context.Background(), Config{Job: job, Rank: 1, Size: 2, Timeout: 300 * time.Millisecond,
		Network: sockets{uid: 0, peer: 0}})
	fmt.Print(os.Getuid(), " ", err)
	os.Exit(0)
}

// TestOtherUser starts a real process of another user, which takes root.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	dir, err := os.MkdirTemp("", "ovgen") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "rank"), binary, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	job := fmt.Sprintf("%d-other", os.Getpid())
	joined := make(chan error)
	go func() {
		c, err := Join(t.Context(), Config{Job: job, Size: 2, Timeout: time.Second, Network: Unix()})
		if err == nil {
			c.Close()
		}
		joined <- err
	}()
	c := exec.Command(filepath.Join(dir, "rank"))
	c.Dir, c.Env = "/", append(os.Environ(), foreignJob+"="+job)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.Output()
	if err != nil || !strings.HasPrefix(string(out), "65534 join job") ||
		!strings.Contains(string(out), "did not come") {
		t.Errorf("%s, %v", out, err)
	}
	var r *RendezvousError
	if err := <-joined; !errors.As(err, &r) || len(r.Notes) > 0 {
		t.Errorf("rank 0: %v", err)
	}
}

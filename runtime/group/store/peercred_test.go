package store

import (
	"errors"
	"fmt"
	"io"
	"os"
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

package store

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

const token = "a token that nobody else has"

// free is an address of this machine that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func overTCP(t *testing.T, address, token string) Network {
	t.Helper()
	n, err := TCP(address, token)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Ranks meet, gather, tell, and learn that one is gone.
func TestTCP(t *testing.T) {
	c := Config{Job: "j", Timeout: 5 * time.Second, Network: overTCP(t, free(t), token)}
	clients := joinAll(t, c, 3)
	each(3, func(r int) {
		all, err := clients[r].Gather(t.Context(), "round", fmt.Append(nil, r))
		if err != nil || len(all) != 3 || string(all[2]) != "2" {
			t.Errorf("rank %d: %q, %v", r, all, err)
		}
	})
	if err := clients[1].Tell([]byte("news")); err != nil {
		t.Error(err)
	}
	if m := <-clients[2].Told(); m.Rank != 1 || string(m.Blob) != "news" {
		t.Errorf("heard %q of rank %d", m.Blob, m.Rank)
	}
	clients[2].Close()
	<-clients[1].Gone()
	if e := (*GoneError)(nil); !errors.As(clients[1].Err(), &e) || e.Rank != 2 {
		t.Error(clients[1].Err())
	}
}

// Who has another token, another job or none is not let in, and those who have them meet all the same.
func TestTCPStrangers(t *testing.T) {
	address := free(t)
	right := Config{Job: "j", Size: 2, Timeout: 5 * time.Second, Network: overTCP(t, address, token)}
	met := make(chan error, 1)
	first, err := make(chan struct{}), error(nil)
	go func() {
		close(first)
		c, err := Join(t.Context(), right)
		if err == nil {
			defer c.Close()
			_, err = c.Gather(t.Context(), "meet", nil)
		}
		met <- err
	}()
	<-first
	for _, x := range []struct{ token, job string }{{"another token of some length", "j"}, {token, "k"}} {
		c := Config{Job: x.job, Rank: 1, Size: 2, Timeout: 5 * time.Second, Network: overTCP(t, address, x.token)}
		if _, err = Join(t.Context(), c); !errors.Is(err, ErrToken) {
			t.Errorf("token %q, job %q: %v", x.token, x.job, err)
		}
	}
	plain, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Write(encode(newFrame(hello).number(version).number(1).number(2).text("j"))); err != nil {
		t.Error(err)
	}
	nobody, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err == nil { // without a certificate of its own it learns when it reads
		defer nobody.Close()
		nobody.SetDeadline(time.Now().Add(2 * time.Second))
		_, _ = nobody.Write(encode(newFrame(hello).number(version).number(1).number(2).text("j")))
		if _, err := nobody.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("without a key: %v", err)
		}
	}
	right.Rank = 1
	c, err := Join(t.Context(), right)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Gather(t.Context(), "meet", nil); err != nil {
		t.Error(err)
	}
	if err := <-met; err != nil {
		t.Error(err)
	}
}

// Addresses and tokens that can't be meant are refused.
func TestBadTCP(t *testing.T) {
	for _, x := range []struct{ address, token, want string }{
		{"here", token, `"here": it is no address`}, {"", token, "it is no address"},
		{"here:", token, "it is no address"},
		{"here:1", "", "a token of 0 bytes"}, {"here:1", "short", "a token of 5 bytes"},
	} {
		if _, err := TCP(x.address, x.token); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q, %q: %v", x.address, x.token, err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer taken.Close()
	c := Config{Job: "j", Size: 1, Timeout: time.Second, Network: overTCP(t, taken.Addr().String(), token)}
	if _, err := Join(t.Context(), c); err == nil || !strings.Contains(err.Error(), "another process is its rank 0") {
		t.Error(err)
	}
}

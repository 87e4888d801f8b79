package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// networks runs f over pipes in a bubble, where time is virtual, and over sockets.
func networks(t *testing.T, timeout time.Duration, f func(t *testing.T, c Config)) {
	t.Run("memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, Config{Job: "j", Timeout: timeout, Network: Memory()}) })
	})
	t.Run("unix", func(t *testing.T) {
		f(t, Config{Job: fmt.Sprintf("%d-%s", os.Getpid(), t.Name()), Timeout: timeout, Network: Unix()})
	})
}

// joinAll joins all ranks of a job and closes them at the end.
func joinAll(t *testing.T, c Config, size int) []*Client {
	t.Helper()
	clients, errs := make([]*Client, size), make([]error, size)
	each(size, func(r int) {
		c := c
		c.Rank, c.Size = r, size
		clients[r], errs[r] = Join(t.Context(), c)
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range clients {
			c.Close()
		}
	})
	return clients
}

func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func TestGather(t *testing.T) {
	networks(t, 5*time.Second, func(t *testing.T, c Config) {
		clients := joinAll(t, c, 4)
		for n := range 20 {
			each(4, func(r int) {
				blob := bytes.Repeat([]byte{byte(n), byte(r)}, n*1000*r)
				all, err := clients[r].Gather(t.Context(), "round", blob)
				if err != nil || len(all) != 4 {
					t.Errorf("rank %d: %d blobs, %v", r, len(all), err)
					return
				}
				for from, b := range all {
					if !bytes.Equal(b, bytes.Repeat([]byte{byte(n), byte(from)}, n*1000*from)) {
						t.Errorf("rank %d got a wrong blob of rank %d", r, from)
					}
				}
			})
		}
	})
}

// What a rank tells reaches all others, and no Gather.
func TestTell(t *testing.T) {
	networks(t, 5*time.Second, func(t *testing.T, c Config) {
		clients := joinAll(t, c, 3)
		heard := func(r, from int, want string) {
			t.Helper()
			select {
			case m := <-clients[r].Told():
				if m.Rank != from || string(m.Blob) != want {
					t.Errorf("rank %d heard %q of rank %d, want %q of %d", r, m.Blob, m.Rank, want, from)
				}
			case <-time.After(time.Second):
				t.Errorf("rank %d heard nothing of %q", r, want)
			}
		}
		if err := clients[1].Tell([]byte("stop")); err != nil {
			t.Error(err)
		}
		each(3, func(r int) {
			if _, err := clients[r].Gather(t.Context(), "round", nil); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
		heard(0, 1, "stop")
		heard(2, 1, "stop")
		if err := clients[0].Tell(bytes.Repeat([]byte{1}, MaxBlob+1)); err == nil {
			t.Error("a blob that is too large was sent")
		}
		if err := clients[0].Tell([]byte("again")); err != nil {
			t.Error(err)
		}
		heard(1, 0, "again")
		heard(2, 0, "again")
		select {
		case m := <-clients[1].Told():
			t.Errorf("rank 1 heard %q as well", m.Blob)
		default:
		}
	})
}

func TestMismatchNamesEveryRankAndGoesOn(t *testing.T) {
	networks(t, 5*time.Second, func(t *testing.T, c Config) {
		clients := joinAll(t, c, 3)
		keys := []string{"bind plan 3", "close plan 1", "bind plan 3"}
		each(3, func(r int) {
			_, err := clients[r].Gather(t.Context(), keys[r], nil)
			const want = "the ranks do different things: ranks 0, 2: bind plan 3; rank 1: close plan 1"
			var m *MismatchError
			if !errors.As(err, &m) || err.Error() != want {
				t.Errorf("rank %d: %v, want %s", r, err, want)
			}
			if _, err := clients[r].Gather(t.Context(), "again", nil); err != nil {
				t.Errorf("rank %d afterwards: %v", r, err)
			}
		})
	})
}

// TestDetails: ranks may say more than the words that are compared.
func TestDetails(t *testing.T) {
	networks(t, 200*time.Millisecond, func(t *testing.T, c Config) {
		clients := joinAll(t, c, 2)
		each(2, func(r int) {
			if _, err := clients[r].Gather(t.Context(), fmt.Sprint("bind plan 3; new buffer ", r), nil); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
		_, err := clients[0].Gather(t.Context(), "bind plan 3; new buffer A", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "bind plan 3; new buffer A: rank 0 came alone") {
			t.Error(err)
		}
	})
}

func TestAbsentRankIsNamed(t *testing.T) {
	networks(t, 200*time.Millisecond, func(t *testing.T, c Config) {
		clients := joinAll(t, c, 4)
		_, err := clients[1].Gather(t.Context(), "bind plan 3 (allgatherlinear)", nil)
		const want = "bind plan 3 (allgatherlinear): rank 1 came alone; ranks 0, 2, 3 did not within 200ms"
		var m *MissingError
		if !errors.As(err, &m) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := clients[2].Gather(t.Context(), "late", nil); !errors.As(err, &m) || err.Error() != want {
			t.Errorf("late rank: %v, want %s", err, want)
		}
	})
}

func TestGiveUp(t *testing.T) {
	networks(t, 5*time.Second, func(t *testing.T, c Config) {
		clients := joinAll(t, c, 3)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		each(2, func(r int) {
			if r == 0 {
				_, err := clients[0].Gather(t.Context(), "new", nil)
				var m *MissingError
				if !errors.As(err, &m) || !strings.Contains(err.Error(), "rank 1 gave up: context deadline exceeded") {
					t.Errorf("rank 0: %v", err)
				}
				return
			}
			_, err := clients[1].Gather(ctx, "new", nil)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("rank 1: %v", err)
			}
			if _, err := clients[1].Gather(t.Context(), "new", nil); err == nil {
				t.Error("rank 1 gathered after it gave up")
			}
		})
	})
}

func TestGoneIsToldAtOnce(t *testing.T) {
	for _, dead := range []int{0, 2} {
		networks(t, time.Minute, func(t *testing.T, c Config) {
			clients := joinAll(t, c, 4)
			each(4, func(r int) {
				if r == dead {
					time.Sleep(20 * time.Millisecond)
					clients[r].Close()
					return
				}
				start := time.Now()
				_, err := clients[r].Gather(t.Context(), "new", nil)
				var g *GoneError
				if !errors.As(err, &g) || g.Rank != dead || time.Since(start) > 2*time.Second {
					t.Errorf("rank %d after %v: %v, want rank %d gone", r, time.Since(start), err, dead)
				}
				<-clients[r].Gone()
				if err := clients[r].Err(); !errors.As(err, &g) || g.Rank != dead {
					t.Errorf("rank %d: Err %v", r, err)
				}
			})
		})
	}
}

func TestRendezvousNamesMissingRanks(t *testing.T) {
	for _, x := range []struct {
		come []int
		size int
		want string
	}{
		{[]int{0, 2}, 4, `ranks 1, 3 of 4 did not come within 300ms`},
		{[]int{1, 2}, 3, `rank 0 of 3 did not come within 300ms`},
	} {
		networks(t, 300*time.Millisecond, func(t *testing.T, c Config) {
			each(len(x.come), func(i int) {
				c := c
				c.Rank, c.Size = x.come[i], x.size
				client, err := Join(t.Context(), c)
				if client != nil {
					client.Close()
				}
				var r *RendezvousError
				if !errors.As(err, &r) || !strings.Contains(err.Error(), x.want) {
					t.Errorf("rank %d: %v, want %s", c.Rank, err, x.want)
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		name       string
		rank, size int
		want       string
	}{
		{"duplicate rank", 1, 3, "rank 1 of job"},
		{"wrong size", 2, 5, "says that job"},
	} {
		t.Run(x.name, func(t *testing.T) {
			networks(t, 300*time.Millisecond, func(t *testing.T, c Config) {
				each(3, func(r int) {
					c := c
					c.Rank, c.Size = r, 3
					if r == 2 {
						time.Sleep(50 * time.Millisecond)
						c.Rank, c.Size = x.rank, x.size
					}
					_, err := Join(t.Context(), c)
					var refused *RefusedError
					if r == 2 && (!errors.As(err, &refused) || !strings.Contains(err.Error(), x.want)) {
						t.Errorf("refused rank: %v, want %s", err, x.want)
					}
					if r < 2 && (err == nil || !strings.Contains(err.Error(), "refused")) {
						t.Errorf("rank %d does not say what was refused: %v", r, err)
					}
				})
			})
		})
	}
}

func TestSecondRankZero(t *testing.T) {
	networks(t, 5*time.Second, func(t *testing.T, c Config) {
		joinAll(t, c, 2)
		c.Rank, c.Size = 0, 2
		if _, err := Join(t.Context(), c); err == nil ||
			!strings.Contains(err.Error(), "another process is its rank 0") {
			t.Error(err)
		}
		c.Rank = 1
		var refused *RefusedError
		if _, err := Join(t.Context(), c); !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}

// TestMostRanks lets as many ranks meet and gather as a job may have.
func TestMostRanks(t *testing.T) {
	networks(t, 20*time.Second, func(t *testing.T, c Config) {
		clients := joinAll(t, c, MaxRanks)
		each(MaxRanks, func(r int) {
			all, err := clients[r].Gather(t.Context(), "k", fmt.Append(nil, r))
			if err != nil || len(all) != MaxRanks || string(all[MaxRanks-1]) != fmt.Sprint(MaxRanks-1) {
				t.Errorf("rank %d: %d blobs, %v", r, len(all), err)
			}
		})
	})
}

func TestBadConfig(t *testing.T) {
	good := Config{Job: "j", Rank: 0, Size: 1, Timeout: time.Second, Network: Memory()}
	for _, spoil := range []func(*Config){
		func(c *Config) { c.Size = 0 }, func(c *Config) { c.Size = MaxRanks + 1 }, func(c *Config) { c.Rank = 1 },
		func(c *Config) { c.Rank = -1 }, func(c *Config) { c.Job = "" },
		func(c *Config) { c.Job = strings.Repeat("x", 81) },
		func(c *Config) { c.Timeout = 0 }, func(c *Config) { c.Network = nil },
	} {
		c := good
		spoil(&c)
		if _, err := Join(t.Context(), c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	client, err := Join(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Gather(t.Context(), "large", make([]byte, MaxBlob+1)); err == nil {
		t.Error("a blob above the limit was taken")
	}
	if err := errors.Join(client.Close(), client.Close()); err != nil {
		t.Error(err)
	}
	if _, err := client.Gather(t.Context(), "closed", nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestCancelledRendezvous(t *testing.T) {
	networks(t, time.Minute, func(t *testing.T, c Config) {
		for _, rank := range []int{0, 1} {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			c.Rank, c.Size = rank, 2
			if _, err := Join(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	})
}

package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// raw sends text on a new connection, and reads until the server closes it.
func (s *serving) raw(text string) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		s.t.Errorf("%q: the server keeps the connection: %v", text, err)
	}
	return string(answer)
}

// TestSlowClients has clients that send half of a request, or nothing more behind one: their connections are closed.
func TestSlowClients(t *testing.T) {
	s := countingFor(t, few, &counter{}, 50*time.Millisecond)
	const post = "POST /v1/completions HTTP/1.1\r\nHost: here\r\n"
	s.raw(post)
	s.raw("GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
	if answer := s.raw(post + "Content-Length: 100\r\n\r\n{"); !strings.HasPrefix(answer, "HTTP/1.1 408") {
		t.Errorf("half a body: %s", answer)
	}
}

// TestLargeHeader sends a header that is larger than any that a client needs.
func TestLargeHeader(t *testing.T) {
	s := counting(t, few, &counter{})
	answer := s.raw("GET /health HTTP/1.1\r\nHost: here\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 431") {
		t.Errorf("%.200s", answer)
	}
}

// TestLongAnswers takes longer to answer than a client may take to send and read.
func TestLongAnswers(t *testing.T) {
	c := &counter{hold: make(chan struct{})}
	s := countingFor(t, few, c, 50*time.Millisecond)
	for range 2 {
		go func() {
			for range 4 {
				time.Sleep(50 * time.Millisecond)
				c.hold <- struct{}{}
			}
		}()
		if got := s.tokens(`{"model": "tiny", "prompt": [97], "max_tokens": 4}`); !slices.Equal(got,
			[]int{98, 99, 100, 101}) {
			t.Errorf("tokens %v", got)
		}
	}
}

// TestLargeBody sends 8 million tokens, which cost no memory to speak of.
func TestLargeBody(t *testing.T) {
	s := counting(t, few, &counter{})
	body := []byte(`{"model": "tiny", "prompt": [0` + strings.Repeat(",0", 8<<20) + `]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/completions", bytes.NewReader(body)))
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; w.Code != http.StatusRequestEntityTooLarge || made > 4<<20 {
		t.Errorf("status %d, %d bytes of memory: %s", w.Code, made, w.Body)
	}
}

// TestManyRequests has more requests at once than the server takes.
func TestManyRequests(t *testing.T) {
	c := &counter{hold: make(chan struct{})}
	s := counting(t, few, c)
	const body = `{"model": "tiny", "prompt": [97], "max_tokens": 1}`
	answers := make(chan int)
	for range waiting * few.Sequences {
		go func() {
			status, _ := s.post(body)
			answers <- status
		}()
	}
	for now := s.server.now.Load(); len(now.here) < cap(now.here); {
		time.Sleep(time.Millisecond)
	}
	status, text := s.post(body)
	if status != http.StatusTooManyRequests || !strings.Contains(text, "32 requests are") {
		t.Errorf("status %d: %s", status, text)
	}
	close(c.hold)
	for range waiting * few.Sequences {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("status %d of a request that was taken", status)
		}
	}
	if status, text := s.post(body); status != http.StatusOK {
		t.Errorf("status %d behind all others: %s", status, text)
	}
}

// bounded is a connection's writer that notes whether it was written without a deadline.
type bounded struct {
	*httptest.ResponseRecorder
	deadline time.Time
	endless  bool
}

// SetWriteDeadline notes the deadline.
func (b *bounded) SetWriteDeadline(at time.Time) error {
	b.deadline = at
	return nil
}

// Write notes that there is no deadline.
func (b *bounded) Write(p []byte) (int, error) {
	b.endless = b.endless || time.Until(b.deadline) <= 0
	return b.ResponseRecorder.Write(p)
}

// TestSlowReaders sees that no answer waits for its reader for ever.
func TestSlowReaders(t *testing.T) {
	s := counting(t, few, &counter{})
	for _, body := range []string{`{}`, `{"model": "tiny", "prompt": [97]}`,
		`{"model": "tiny", "prompt": [97], "stream": true}`} {
		w := &bounded{ResponseRecorder: httptest.NewRecorder()}
		s.server.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(body)))
		if w.endless || w.Body.Len() == 0 {
			t.Errorf("%s: an answer of %d bytes without a deadline", body, w.Body.Len())
		}
	}
}

package debug

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A download has to end in time, however steadily the client reads.
func TestTimeIsUp(t *testing.T) {
	answer := httptest.NewRecorder()
	w := &patientWriter{answer, http.NewResponseController(answer), time.Now().Add(time.Hour)}
	if _, err := w.Write([]byte("in time")); err != nil {
		t.Error(err)
	}
	w.end = time.Now().Add(-time.Second)
	if _, err := w.Write([]byte(" late")); !errors.Is(err, errSlow) || answer.Body.String() != "in time" {
		t.Errorf("%v; the client has %q", err, answer.Body)
	}
}

// A panic of ours becomes an answer.
func TestPanicIsAnAnswer(t *testing.T) {
	h, answer := &handler{}, httptest.NewRecorder()
	h.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") })).ServeHTTP(answer, httptest.NewRequest("GET", "http://localhost/", nil))
	if answer.Code != http.StatusInternalServerError {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

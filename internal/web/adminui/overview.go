package adminui

import (
	"net/http"

	"cloudburst/internal/account"
	"cloudburst/internal/checkup"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

type overviewView struct {
	view
	Program  Program
	Checked  bool // the installation was checked
	Problems []finding
	Fine     []string // checks without a problem or warning
	Wrong    string   // reason why the check failed; "": it succeeded
	Lead     string
}

// finding is a problem or warning, with its consequence and remedy.
type finding struct {
	Problem        bool
	Text, Why, Fix string
}

// overviewPage shows the findings about the installation and the version.
func (s *Pages) overviewPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	v := overviewView{view: s.newView(r, "Administration", "/admin", nil), Program: s.Program, Lead: "Everything that the server can check is in order."}
	if s.Findings != nil {
		v.Checked = true
		list, err := s.Findings(r.Context())
		if err != nil {
			v.Wrong = shell.Sentence(fault.Message(err))
			s.LogFailure(r, err, http.StatusInternalServerError)
		}
		for _, f := range list {
			if f.Level == checkup.OK {
				v.Fine = append(v.Fine, shell.Sentence(f.Text))
				continue
			}
			v.Problems = append(v.Problems, finding{f.Level == checkup.Problem, shell.Sentence(f.Text), shell.Sentence(f.Why), shell.Sentence(f.Fix)})
		}
	}
	switch n := len(v.Problems); {
	case v.Wrong != "":
		v.Lead = "The installation could not be checked."
	case n > 0:
		v.Lead = v.Say("%s your attention.", locale.Quantity(n, "thing needs", "things need"))
	}
	return s.Render(rw, r, http.StatusOK, "admin", v)
}

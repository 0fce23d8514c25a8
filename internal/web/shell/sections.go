package shell

// section is one entry of the bar. What the program learns later gets its line
// in sections and its icon in templates/icons.html.
type section struct {
	Path, Label, Icon string
	Place             placing
}

// placing says where the bar has a section: the bar of a phone has room for few.
type placing int

const (
	inBar         placing = iota // always
	inBarWhenWide                // in its menu on a phone
	inMenu                       // always in its menu
)

func (s *Shell) sections() []section {
	all := []section{
		{"/hub", "Hub", "hub", inMenu},
		{"/log", "Log", "log", inBar},
		{"/changes", "Changes", "changes", inMenu},
		{"/topics", "Topics", "topics", inMenu},
		{"/status", "Status", "status", inBarWhenWide},
		{"/docs", "Docs", "docs", inBarWhenWide},
	}
	writes := s.Writes && s.Sessions != nil
	if !s.Reads && !writes {
		for i := range all {
			all[i].Place = inBar
		}
		return all
	}
	var first []section
	if s.Reads {
		first = append(first, section{"/river", "River", "river", inBar}, section{"/feeds", "Feeds", "feeds", inBar})
	}
	if writes {
		first = append(first, section{"/write", "Write", "write", inBar})
		all[1].Place = inBarWhenWide // the log
	}
	return append(first, all...)
}

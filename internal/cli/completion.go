package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

func (p *program) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for bash, zsh, fish or powershell",
		Long: `Prints a script that adds completion of commands and flags to a shell.

  bash        source <(cloudburst completion bash)
  zsh         cloudburst completion zsh > "${fpath[1]}/_cloudburst"
  fish        cloudburst completion fish > ~/.config/fish/completions/cloudburst.fish
  powershell  cloudburst completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args:      shell.Between(1, 1, "one of bash, zsh, fish, powershell"),
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.Out, true)
			case "zsh":
				return root.GenZshCompletion(p.Out)
			case "fish":
				return root.GenFishCompletion(p.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.Out)
			}
			return shell.Usagef("there is no completion for the shell %q: use one of %s", args[0], strings.Join(shells, ", "))
		},
	}
}

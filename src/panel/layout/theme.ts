/** Light, dark, or as the system has it. */
export type Theme = 'system' | 'light' | 'dark'

const REMEMBERED = 'chapar.theme'
const themes: readonly Theme[] = ['system', 'light', 'dark']

export function currentTheme(): Theme {
  const remembered = localStorage.getItem(REMEMBERED)
  return themes.find((theme) => theme === remembered) ?? 'system'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(REMEMBERED, theme)
  startTheme()
}

export function startTheme(): void {
  const theme = currentTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

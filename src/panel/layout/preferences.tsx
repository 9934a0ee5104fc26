/** The menus for language, theme and density. The choices are remembered, and applied when the panel starts. */
import { Menu } from '@base-ui/react/menu'
import { useState, useSyncExternalStore } from 'react'
import { useLanguage } from '../i18n/language.tsx'
import type { Language } from '../i18n/translate.ts'
import { Button } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'

const names: Readonly<Record<Language, string>> = { en: 'English', fa: 'فارسی' }

export function Preferences() {
  const { language, choose, t } = useLanguage()
  const [theme, setTheme] = useState(currentTheme)
  const density = useDensity()
  return (
    <div className="row">
      <Picker
        icon="language"
        label={t('language')}
        value={language}
        options={[
          ['en', names.en],
          ['fa', names.fa],
        ]}
        onChange={(next) => choose(next as Language)}
      />
      <Picker
        icon="theme"
        label={t('theme')}
        value={theme}
        options={[
          ['system', t('theme.system')],
          ['light', t('theme.light')],
          ['dark', t('theme.dark')],
        ]}
        onChange={(next) => {
          chooseTheme(next as Theme)
          setTheme(next as Theme)
        }}
      />
      <Picker
        icon="menu"
        label={t('density')}
        value={density}
        options={[
          ['roomy', t('density.roomy')],
          ['dense', t('density.dense')],
        ]}
        onChange={(next) => {
          localStorage.setItem(DENSITY, next)
          startDensity()
          for (const tell of onDensity) tell()
        }}
      />
    </div>
  )
}

interface PickerProps {
  readonly icon: IconName
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onChange(value: string): void
}

function Picker({ icon, label, value, options, onChange }: PickerProps) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger render={<Button kind="bare" icon={icon} />} aria-label={label} />
      <Menu.Portal>
        <Menu.Positioner sideOffset={4}>
          <Menu.Popup className="menu">
            <Menu.RadioGroup value={value} onValueChange={onChange}>
              {options.map(([option, text]) => (
                <Menu.RadioItem key={option} value={option} closeOnClick>
                  <span className="grow">{text}</span>
                  <Menu.RadioItemIndicator>
                    <Icon name="check" size={16} />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

type Theme = 'system' | 'light' | 'dark'

const REMEMBERED = 'chapar.theme'
const themes: readonly Theme[] = ['system', 'light', 'dark']

function currentTheme(): Theme {
  const remembered = localStorage.getItem(REMEMBERED)
  return themes.find((theme) => theme === remembered) ?? 'system'
}

function chooseTheme(theme: Theme): void {
  localStorage.setItem(REMEMBERED, theme)
  startTheme()
}

export function startTheme(): void {
  const theme = currentTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

const DENSITY = 'chapar.density'
const currentDensity = () => (localStorage.getItem(DENSITY) === 'dense' ? 'dense' : 'roomy')

const onDensity = new Set<() => void>()
function subscribe(listener: () => void): () => void {
  onDensity.add(listener)
  return () => onDensity.delete(listener)
}

/** For what is measured in pixels; the styles have the attribute. */
export const useDensity = () => useSyncExternalStore(subscribe, currentDensity)

/** Dense lists have more rows on one screen. */
export function startDensity(): void {
  document.documentElement.dataset.density = currentDensity()
}

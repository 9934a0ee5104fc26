/** The language of the panel: chosen, remembered, and applied to the document and all components. */
import { DirectionProvider } from '@base-ui/react/direction-provider'
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react'
import type { Catalogue } from './en.ts'
import { type Language, locales, type Translate, translator } from './translate.ts'

interface Spoken {
  readonly language: Language
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
  readonly t: Translate
  choose(language: Language): void
}

const SpokenContext = createContext<Spoken | undefined>(undefined)

const REMEMBERED = 'chapar.language'

function preferred(): Language {
  const chosen = localStorage.getItem(REMEMBERED)
  if (chosen === 'en' || chosen === 'fa') return chosen
  return navigator.languages.some((tag) => tag.toLowerCase().startsWith('fa')) ? 'fa' : 'en'
}

async function load(language: Language): Promise<Catalogue> {
  return language === 'en' ? (await import('./en.ts')).en : (await import('./fa.ts')).fa
}

// It comes while the rest of the page begins. What goes wrong is dealt with where it is waited for.
load(preferred()).catch(() => undefined)

const RETRY_MS = 2_000

export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [wanted, setWanted] = useState(preferred)
  const [spoken, setSpoken] = useState<{ language: Language; catalogue: Catalogue }>()
  const [tries, setTries] = useState(0)

  useEffect(() => {
    if (wanted === spoken?.language) return
    let isCurrent = true
    let retry: ReturnType<typeof setTimeout> | undefined
    load(wanted).then(
      (catalogue) => {
        if (isCurrent) setSpoken({ language: wanted, catalogue })
      },
      // The catalogue cannot be loaded, for example while the service is away: keep the current language.
      () => {
        if (!isCurrent) return
        if (spoken) setWanted(spoken.language)
        else if (wanted !== 'en') setWanted('en')
        // There is nothing to show yet in any language.
        else retry = setTimeout(() => setTries(tries + 1), RETRY_MS)
      },
    )
    return () => {
      isCurrent = false
      clearTimeout(retry)
    }
  }, [wanted, spoken, tries])

  const value = useMemo((): Spoken | undefined => {
    if (!spoken) return undefined
    const { language, catalogue } = spoken
    return {
      language,
      locale: locales[language],
      direction: language === 'fa' ? 'rtl' : 'ltr',
      t: translator(catalogue, language),
      choose(next) {
        localStorage.setItem(REMEMBERED, next)
        setWanted(next)
      },
    }
  }, [spoken])

  // Before anything is drawn: otherwise the browser would load the font of the other language first.
  useLayoutEffect(() => {
    if (!value) return
    document.documentElement.lang = value.language
    document.documentElement.dir = value.direction
  }, [value])

  if (!value) return null
  return (
    <SpokenContext value={value}>
      <DirectionProvider direction={value.direction}>{children}</DirectionProvider>
    </SpokenContext>
  )
}

export function useLanguage(): Spoken {
  const spoken = use(SpokenContext)
  if (!spoken) throw new Error('outside of LanguageProvider')
  return spoken
}

export const useT = (): Translate => useLanguage().t

/** A question mark that explains a word where one hesitates: the browser's own popover, closed by Esc or a click beside it. */
import { useId } from 'react'
import { useT } from '../i18n/language.tsx'

type Subject = 'scopes' | 'overlap' | 'silence' | 'cursor' | 'settings'

export function Hint({ about }: { readonly about: Subject }) {
  const t = useT()
  const id = useId()
  return (
    <>
      <button
        type="button"
        className="hint-mark"
        popoverTarget={id}
        aria-label={t('hint.what', { subject: t(`hint.${about}.title`) })}
      >
        ?
      </button>
      <div id={id} popover="auto" className="hint-text" role="note">
        <p className="label">{t(`hint.${about}.title`)}</p>
        <p className="small">{t(`hint.${about}`)}</p>
      </div>
    </>
  )
}

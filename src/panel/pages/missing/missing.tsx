/** An address below /dashboard that shows nothing. */
import { useT } from '../../i18n/language.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'

export function MissingPage() {
  const t = useT()
  return (
    <Page title={t('missing.title')} narrow>
      <Empty
        icon="search"
        title={t('missing.text')}
        action={<ButtonLink to="/dashboard">{t('nav.dashboard')}</ButtonLink>}
      />
    </Page>
  )
}

/** /dashboard/account: who is signed in, where, and the tokens of their scripts. */
import { useSession } from '../../api/session.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Preferences } from '../../layout/preferences.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { SignIns } from './sign-ins.tsx'
import { Tokens } from './tokens.tsx'

export function AccountPage() {
  const t = useT()
  const { day } = useFormats()
  const session = useSession()
  if (session.state !== 'in') return null
  const { user } = session
  return (
    <Page title={t('settings.title')} lead={t('settings.lead')} narrow>
      <Card title={t('settings.profile')} aside={<Preferences />}>
        <dl className="facts">
          <dt>{t('phone')}</dt>
          <dd>
            <span className="ltr">{user.phone}</span>
          </dd>
          <dt>{t('settings.number')}</dt>
          <dd>
            <span className="number ltr">{user.user_id}</span>
          </dd>
          <dt>{t('settings.since')}</dt>
          <dd>{day(user.created_at)}</dd>
        </dl>
      </Card>
      <Tokens />
      <SignIns />
    </Page>
  )
}

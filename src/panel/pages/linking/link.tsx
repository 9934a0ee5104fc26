/** /dashboard/link: which messenger, which way, and what it wants to know first. */
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { platformsQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { StartForm } from './start-form.tsx'

export function LinkPage() {
  const t = useT()
  /** One that the panel has no word for calls itself something. */
  const nameOf = (platform: string, own: string) => {
    const known = t.word('platform', platform)
    return known === platform ? own : known
  }
  const [query, setQuery] = useSearchParams()
  const platforms = useQuery(platformsQuery)
  const again = query.get('again')
  const chosen = platforms.data?.find(({ platform }) => platform === query.get('platform'))
  return (
    <Page title={t(again ? 'linking.again' : 'accounts.link')} lead={t('linking.lead')} narrow>
      {platforms.isError && !platforms.data ? (
        <Failed cause={platforms.error} retry={() => platforms.refetch()} />
      ) : !platforms.data ? (
        <Loading lines={4} />
      ) : (
        <>
          {!again && (
            <fieldset className="platforms">
              <legend className="label">{t('linking.platform')}</legend>
              {platforms.data.map(({ platform, name, available }) => (
                <label key={platform} className="platform">
                  <input
                    type="radio"
                    name="platform"
                    value={platform}
                    checked={chosen?.platform === platform}
                    disabled={!available}
                    onChange={() => setQuery({ platform }, { replace: true })}
                  />
                  <span className="grow">
                    <span className="label block">{nameOf(platform, name)}</span>
                    {!available && (
                      <span className="quiet small block">
                        {t('linking.unavailable', { platform: nameOf(platform, name) })}
                      </span>
                    )}
                  </span>
                </label>
              ))}
            </fieldset>
          )}
          {chosen?.available && (
            <StartForm
              key={chosen.platform}
              platform={chosen}
              {...(again && { again: Number(again) })}
            />
          )}
        </>
      )}
    </Page>
  )
}

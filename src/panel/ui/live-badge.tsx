/** Whether what is shown changes by itself at the moment. */
import { useT } from '../i18n/language.tsx'
import { useIsLive } from '../live/live.tsx'

export function LiveBadge() {
  const t = useT()
  const isLive = useIsLive()
  return (
    <span
      className={`badge dot ${isLive ? 'tone-good live' : 'tone-idle'}`}
      title={t('live.hint')}
      role="status"
    >
      {t(isLive ? 'live.on' : 'live.off')}
    </span>
  )
}

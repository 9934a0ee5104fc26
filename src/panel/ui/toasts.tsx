/** Short news about what has just been done, read aloud and gone after a while. */
import { Toast } from '@base-ui/react/toast'
import type { ReactNode } from 'react'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const t = useT()
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <span className={toast.type === 'bad' ? 'wrong' : 'quiet'}>
        <Icon name={toast.type === 'bad' ? 'warning' : 'check'} />
      </span>
      <Toast.Title className="grow small" />
      <Toast.Close
        render={<Button kind="bare" size="slim" icon="cross" />}
        aria-label={t('dismiss')}
      />
    </Toast.Root>
  ))
}

export function useToast(): (text: string, type?: 'good' | 'bad') => void {
  const { add } = Toast.useToastManager()
  return (text, type = 'good') => {
    add({ title: text, type, priority: type === 'bad' ? 'high' : 'low' })
  }
}

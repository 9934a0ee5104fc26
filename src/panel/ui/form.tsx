/** A form that is sent by a mutation, once at a time. */
import type { ReactNode } from 'react'

interface FormProps {
  readonly by: { readonly isPending: boolean; mutate(): void }
  readonly isReady?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export function Form({ by, isReady = true, className = 'stack', children }: FormProps) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !by.isPending) by.mutate()
      }}
    >
      {children}
    </form>
  )
}

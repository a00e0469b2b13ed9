import { QuittanceError } from '../../kernel/errors.ts'
import { variableFor } from '../credential-fields.ts'
import type { OperationContext } from '../interpret-context.ts'

/** Error: `gateway_not_configured` while the gateway is switched off. */
export function refuseIfOff({ credentials }: OperationContext): void {
  if (credentials.configured) return
  throw new QuittanceError('gateway_not_configured', 'the fake gateway is switched off', {
    fix: `Set ${variableFor(credentials, 'enabled')}=on.`,
  })
}

// office.js: tools of an office, for the tests of the hooks.
export const REQUEST = 'will it rain in Oslo tomorrow?';

const OTHERS = `
send_email: Send an email to a person
create_event: Create an event in the calendar
list_events: List the events of a day
book_room: Reserve a meeting room
translate_text: Translate a text into another language
convert_currency: Convert an amount of money into another currency
get_stock_price: Read the price of a share
create_invoice: Write an invoice for a customer
search_files: Search the files of the team
create_ticket: Open a ticket for a bug
play_music: Play a song
order_taxi: Order a taxi to an address
track_parcel: Show where a parcel is
run_query: Run an SQL query
deploy_service: Deploy a service to production
`;

/** Names and descriptions of the tools; get_weather is the one that REQUEST needs. */
export const TOOLS = [
  {name: 'get_weather', description: 'Forecast of the weather in a city', argument: 'city'},
  ...OTHERS.trim().split('\n').map((line) => {
    const [name, description] = line.split(': ');
    return {name, description, argument: 'text'};
  }),
].map((tool) => ({
  ...tool,
  parameters: {type: 'object', properties: {[tool.argument]: {type: 'string'}}, required: [tool.argument]},
}));
